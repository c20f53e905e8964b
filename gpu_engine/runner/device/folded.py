"""The Code Predictor's frame with fewer kernels, where rows are many and products cuBLAS's."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from gpu_engine.kernels import fused
from gpu_engine.runner.device.frame import FrameStep


class FoldedFrame(FrameStep):
    """The norms' gains lie in the weights of the products behind them, and their rows' scales in
    the kernels that read those: ten kernels a pass fewer."""

    def _attend(self, x: Tensor, index: int, cache: Tensor, start: int, count: int) -> Tensor:
        qkv = F.linear(x, self.weights.folded[index][0])
        stack = self.weights.stack
        return fused.attend_frame(qkv, stack, index, cache, start, count, hidden=x)

    def _gated(self, x: Tensor, index: int) -> Tensor:
        both = F.linear(x, self.weights.folded[index][1])
        return fused.gate(both, hidden=x, eps=self.weights.stack.eps)
