"""The Code Predictor's frame as one CUDA kernel: see `frame.cu`."""
