"""Two pictures of a run: how soon streams are heard, how far ahead of listeners they stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def draw(result: dict[str, Any], file: Path) -> None:
    """A PNG; drawn without a screen."""
    figure = Figure(figsize=(11, 4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _first_audio(left, result["open_loop"])
    _lead(right, result["together"])
    figure.savefig(file, dpi=110)


def _first_audio(axes: Axes, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        times = sorted(row["raw_first_audible_ms"])
        shares = [(place + 1) / len(times) for place in range(len(times))]
        axes.step(times, shares, where="post", label=f"{row['rate']:g} a second")
    axes.set(xlabel="first audible sample, ms", ylabel="share of streams", ylim=(0, 1.02))
    axes.set_xlim(left=0)
    axes.set_title("How soon it speaks")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")


def _lead(axes: Axes, rounds: list[dict[str, Any]]) -> None:
    for number, row in enumerate(rounds):
        for stream in row["lead"]:
            axes.plot(*zip(*stream, strict=True), color=f"C{number}", alpha=0.7)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="seconds since the request", ylabel="audio ahead of playback, s")
    axes.set_title("Streams together: below zero the listener waits")
    axes.grid(alpha=0.3)
