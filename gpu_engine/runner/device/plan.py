"""What a graph device is made of: variants, batch sizes, precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from gpu_engine.kernels.ops import Variant

CodecVariant = Literal["module", "fused"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Defaults by what `bench steps --variants all` measured (docs/log.md). `codec_dtype` float32
    multiplies in tf32."""

    slots: int = 256
    positions: int = 2048
    texts: int = 1032
    step_rows: tuple[int, ...] = (1, 2, 8, 16, 32, 64, 128, 256)
    codec_rows: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    codec_frames: tuple[int, ...] = (1, 2, 4, 8, 16)
    variant: Variant = "fused"
    early_rows: int = 2
    """Batches of up to so many rows start each kernel before the one in front has ended."""
    library_rows: int = 2
    """Batches of more rows take cuBLAS for their products."""
    folded: bool = True
    """Of those the predictor has its norms' gains in a copy of its weights."""
    cache_bytes: int = 256 << 20
    """Of each cache of voices and beginnings."""
    codec: CodecVariant = "fused"
    codec_dtype: torch.dtype = torch.float16
    fp8: bool = False

    def variant_of(self, rows: int) -> Variant:
        """Of the steps of a batch."""
        if self.variant == "plain":
            return "plain"
        if self.variant == "fused" and rows <= self.early_rows:
            return "early"
        return "library" if rows > self.library_rows else self.variant

    def folds(self, rows: int) -> bool:
        """Whether a frame of so many rows reads the folded copy; it is not made of e4m3."""
        return self.folded and not self.fp8 and self.variant_of(rows) == "library"

    @classmethod
    def plain(cls, slots: int, positions: int) -> Plan:
        """References only: any device."""
        return cls(
            slots=slots,
            positions=positions,
            texts=positions + 8,
            step_rows=(1, 2, 4),
            codec_rows=(1, 2, 4),
            variant="plain",
            codec="module",
            codec_dtype=torch.float32,
        )
