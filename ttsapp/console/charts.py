"""Bars as numbers for an inline SVG: drawn without a script, with a table that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEIGHT = 100.0
# Of each bar's slot of 10 units; the rest is the gap between bars.
SLOT, WIDTH = 10, 7


@dataclass(frozen=True, slots=True)
class Bar:
    x: int
    y: float
    height: float
    behind_y: float
    behind_height: float
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`highest`: the value that a bar of full height has."""

    bars: tuple[Bar, ...]
    highest: int
    width: int

    @property
    def is_empty(self) -> bool:
        return self.highest == 0


def chart(values: Sequence[int], titles: Sequence[str], behind: Sequence[int] = ()) -> Chart:
    """One bar a value, each over a paler one where `behind` has a higher value."""
    behind = behind or values
    highest = max((*values, *behind), default=0)
    bars = tuple(
        _bar(place, value, back, title, highest)
        for place, (value, back, title) in enumerate(zip(values, behind, titles, strict=True))
    )
    return Chart(bars, highest, SLOT * max(1, len(bars)))


def _bar(place: int, value: int, behind: int, title: str, highest: int) -> Bar:
    scale = HEIGHT / highest if highest else 0.0
    height, back = round(value * scale, 2), round(behind * scale, 2)
    return Bar(SLOT * place, HEIGHT - height, height, HEIGHT - back, back, title)
