"""The split residual quantizer: one semantic and fifteen acoustic codebooks."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import CodecDecoderConfig

USAGE_FLOOR = 1e-5


class Codebook(nn.Module):
    """Entries are stored as sums and usage counts; their ratio is what is looked up."""

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.embedding_sum = nn.Parameter(torch.zeros(size, dim), requires_grad=False)
        self.cluster_usage = nn.Parameter(torch.ones(size), requires_grad=False)

    def entries(self) -> Tensor:
        """[size, dim] float32."""
        return (
            self.embedding_sum.float() / self.cluster_usage.float().clamp(min=USAGE_FLOOR)[:, None]
        )


class _Layer(nn.Module):
    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self._codebook = Codebook(size, dim)


class _Vq(nn.Module):
    def __init__(self, layers: int, size: int, dim: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_Layer(size, dim) for _ in range(layers))


class ResidualQuantizer(nn.Module):
    """`layers` codebooks of half the codec's width, and the projection back to it."""

    def __init__(self, layers: int, config: CodecDecoderConfig) -> None:
        super().__init__()
        dim = config.codebook_dim // 2
        self.vq = _Vq(layers, config.codebook_size, dim)
        self.input_proj = nn.Conv1d(config.codebook_dim, dim, 1, bias=False)  # stored, never used
        self.output_proj = nn.Conv1d(dim, config.codebook_dim, 1, bias=False)

    def codebooks(self) -> list[Codebook]:
        return [layer._codebook for layer in self.vq.layers]  # type: ignore[misc]

    def tables(self) -> Tensor:
        """Every entry already projected: [layers * size, codebook_dim] float32."""
        entries = torch.cat([book.entries() for book in self.codebooks()])
        return entries @ self.output_proj.weight[..., 0].float().T


class SplitQuantizer(nn.Module):
    """Codes to latents: the sum of sixteen projected entries."""

    def __init__(self, config: CodecDecoderConfig) -> None:
        super().__init__()
        self.size = config.codebook_size
        semantic = config.num_semantic_quantizers
        self.rvq_first = ResidualQuantizer(semantic, config)
        self.rvq_rest = ResidualQuantizer(config.num_quantizers - semantic, config)
        self._table: Tensor | None = None

    def decode(self, codes: Tensor) -> Tensor:
        """codes int [B, groups, T] -> latents float32 [B, codebook_dim, T]."""
        offsets = torch.arange(codes.shape[1], device=codes.device) * self.size
        latents = F.embedding(codes + offsets[:, None], self.table())
        return latents.sum(1).transpose(1, 2)

    def table(self) -> Tensor:
        """Projected once, then kept: doing it on every call costs more than the lookup."""
        if self._table is None or self._table.device != self.rvq_first.output_proj.weight.device:
            with torch.no_grad():
                self._table = torch.cat([self.rvq_first.tables(), self.rvq_rest.tables()])
        return self._table

    def refresh(self) -> None:
        """After the weights changed."""
        self._table = None
