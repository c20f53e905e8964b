"""The modules in C for a CPU, where a small model in PyTorch spends its time between operators."""

from gpu_engine.native.build import library
from gpu_engine.native.runner import NativeRunner, runs_natively

__all__ = ["NativeRunner", "library", "runs_natively"]
