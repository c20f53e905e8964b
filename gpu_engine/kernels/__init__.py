"""What a frame is computed with on a GPU, each kernel with a plain PyTorch reference.

`plain` is the reference and runs anywhere, `fused` the same functions in Triton.
"""
