"""Every pair of colours that the stylesheet puts on each other can be read (WCAG 2.2 AA)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

CSS = Path(settings.BASE_DIR, "ttsapp/console/static/console/console.css").read_text("utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", block))
    for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
)
TEXT = [
    *((ink, ground) for ink in ("ink", "soft", "accent") for ground in ("page", "surface")),
    *((ink, "raised") for ink in ("ink", "soft", "accent")),
    ("on-accent", "accent"),
    ("accent", "accent-soft"),
    ("surface", "bad"),
    ("bad", "surface"),
    *((kind, f"{kind}-soft") for kind in ("good", "bad", "warn")),
]
# Parts of charts, edges of fields, rings of focus.
SHAPES = [
    ("accent", "page"),
    *((shape, "surface") for shape in ("accent", "pale", "soft", "ink", "warn", "bad")),
]


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    channels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_itself() -> None:
    assert contrast("#fff", "#000000") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_can_be_read(scheme: dict[str, str], ink: str, ground: str) -> None:
    assert contrast(scheme[ink], scheme[ground]) >= 4.5


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("shape", "ground"), SHAPES)
def test_shapes_can_be_told_from_their_ground(
    scheme: dict[str, str], shape: str, ground: str
) -> None:
    assert contrast(scheme[shape], scheme[ground]) >= 3.0
