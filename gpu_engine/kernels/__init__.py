"""What a frame is computed with on a GPU, each kernel with a plain PyTorch reference.

`plain` is the reference and runs anywhere, `fused` the same functions in Triton, `stream` the Code
Predictor's frame as one CUDA kernel. `plain` alone runs without a GPU.
"""
