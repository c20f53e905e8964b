"""Which letters a document can be printed with, and with which font each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from django.conf import settings
from font_roboto import font_files
from reportlab.lib.fonts import addMapping
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont

REGULAR, BOLD = "Document", "Document-Bold"
# Not embedded: readers show them with the fonts of their own machine.
CHINESE, KOREAN = "STSong-Light", "HYSMyeongJo-Medium"
_IDEOGRAPHS = (range(0x3000, 0x3100), range(0x3400, 0xA000), range(0xFF00, 0xFFF0))
_HANGUL = (range(0xAC00, 0xD7A4),)


def paragraph(text: str) -> str:
    """The text as reportlab's markup, with the fonts that its letters need."""
    return "".join(
        f'<font name="{font}">{escape(run)}</font>' if font else escape(run)
        for font, run in _runs(text)
    )


def unprintable(text: str) -> str:
    """The characters of it that no font here has, each once."""
    return "".join(dict.fromkeys(c for c in text if _font(c) is None and c not in "\r\n"))


@cache
def register() -> frozenset[int]:
    """Makes the fonts known to reportlab; returns the code points that the main one has."""
    own: Path | None = settings.INVOICE_FONT
    regular, bold = (own, own) if own else (font_files["Roboto"], font_files["RobotoBold"])
    faces = [TTFont(REGULAR, regular), TTFont(BOLD, bold)]
    for face in (*faces, UnicodeCIDFont(CHINESE), UnicodeCIDFont(KOREAN)):
        pdfmetrics.registerFont(face)
    addMapping(REGULAR, 0, 0, REGULAR)
    addMapping(REGULAR, 1, 0, BOLD)
    return frozenset(faces[0].face.charToGlyph)


def _runs(text: str) -> Iterator[tuple[str, str]]:
    for font, run in groupby(text, key=_font):
        yield font or "", "".join(run)


def _font(character: str) -> str | None:
    """Empty: the main one; None: none."""
    point = ord(character)
    if point in register():
        return ""
    if any(point in block for block in _IDEOGRAPHS):
        return CHINESE
    return KOREAN if any(point in block for block in _HANGUL) else None
