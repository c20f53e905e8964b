"""Bars and lines as inline SVG: drawn without a script, with a table that says the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

HEIGHT = 100.0
# Of each bar's slot of 10 units; the rest is the gap between bars.
SLOT, WIDTH = 10, 7
# Fewer bars stand in the middle: the first day of a month is no wall.
FEWEST_SLOTS = 7


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
    """`highest`: the value that a bar of full height has. `line`: a share for each bar, of the
    chart's whole height; None where nothing is known."""

    bars: tuple[Bar, ...]
    highest: int
    width: int
    line: tuple[float | None, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self.highest == 0

    @property
    def drawing(self) -> SafeString:
        """What is inside of the picture: made here, a template takes ten times as long."""
        parts = [_drawn(bar) for bar in self.bars]
        points = [None if share is None else HEIGHT * (1 - share) for share in self.line]
        if path := stroke(points, step=SLOT, start=_start(len(points)) + WIDTH / 2):
            parts.append(f'<path class="line" d="{path}"/>')
        return mark_safe("".join(parts))


def chart(
    values: Sequence[int],
    titles: Sequence[str],
    behind: Sequence[int] = (),
    line: Sequence[float | None] = (),
    above: Sequence[int] = (),
) -> Chart:
    """One bar a value, each over a paler one where `behind` has a higher value; `above`: a line of
    values, broken where there is none."""
    behind = behind or values
    highest = max((*values, *behind, *above), default=0)
    start = _start(len(values))
    line = line or [value / highest if value else None for value in above]
    bars = tuple(
        _bar(start + SLOT * place, value, back, title, highest)
        for place, (value, back, title) in enumerate(zip(values, behind, titles, strict=True))
    )
    return Chart(bars, highest, SLOT * max(FEWEST_SLOTS, len(bars)), tuple(line))


def _start(count: int) -> int:
    """Where the first of so many bars stands."""
    return SLOT * max(0, FEWEST_SLOTS - count) // 2


def stroke(heights: Sequence[float | None], step: float = 1, start: float = 0) -> str:
    """An SVG path through what is known; where nothing is, there is a gap."""
    return "".join(_strokes(heights, step, start))


def _strokes(heights: Sequence[float | None], step: float, start: float) -> Iterator[str]:
    for place, (before, height) in enumerate(pairwise((None, *heights))):
        if height is None:
            continue
        at = f"{start + place * step:g},{height:.4g}"
        yield f"L{at}" if before is not None else f"M{at}h.01"


def _bar(x: int, value: int, behind: int, title: str, highest: int) -> Bar:
    scale = HEIGHT / highest if highest else 0.0
    height, back = round(value * scale, 2), round(behind * scale, 2)
    return Bar(x, HEIGHT - height, height, HEIGHT - back, back, title)


def _drawn(bar: Bar) -> str:
    behind = _rect(bar.x, bar.behind_y, WIDTH, bar.behind_height, "behind")
    shown = _rect(bar.x, bar.y, WIDTH, bar.height)
    slot = _rect(bar.x, 0, SLOT, HEIGHT, "slot")
    return f"<g><title>{escape(bar.title)}</title>{slot}{behind}{shown}</g>"


def _rect(x: float, y: float, width: float, height: float, name: str = "") -> str:
    if not height:
        return ""
    kind = f' class="{name}"' if name else ""
    return f'<rect{kind} x="{x}" y="{y:.4g}" width="{width}" height="{height:.4g}"/>'
