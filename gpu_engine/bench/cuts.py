"""Ways to cut products and convolutions into tiles, beside the default ones, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

PRODUCTS = ("shallow", "eight", "thin", "wide64")
CONVOLUTIONS = ("square", "wide", "tall")


def tunings() -> dict[str, Any]:
    """By the names of PRODUCTS."""
    from gpu_engine.kernels.fused.linear import Tiling, Tuning

    base = Tuning()
    return {
        "shallow": replace(base, stream=Tiling(0, 4, 1024)),
        "eight": replace(base, stream=Tiling(0, 4, 2048, warps=8)),
        "thin": replace(base, stream=Tiling(0, 1, 2048, warps=4)),
        "wide64": replace(base, wide=Tiling(16, 64, 128, stages=4)),
    }


def convolutions() -> dict[str, Any]:
    """By the names of CONVOLUTIONS."""
    from gpu_engine.kernels.fused.convolution import Cut, Cuts

    return {
        "square": Cuts(Cut(128, 128, 64, warps=8, stages=3)),
        "wide": Cuts(Cut(128, 256, 64, warps=8, stages=3)),
        "tall": Cuts(Cut(256, 128, 64, warps=8, stages=3)),
    }


def coarse() -> Any:
    """Large tiles: an interpreter pays by the program."""
    from gpu_engine.kernels.fused.linear import Tiling, Tuning

    tile = Tiling(16, 256, 64)
    return Tuning(few=4, stream=Tiling(0, 256, 64), wide=tile, narrow=tile)


def few() -> Any:
    """As few programs as that: for convolutions in an interpreter."""
    from gpu_engine.kernels.fused.convolution import Cuts

    return Cuts(programs=2)
