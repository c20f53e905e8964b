"""A document as PDF: the same bytes whenever it is made, since all of it is in the document."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from billing import money
from billing.invoices.fonts import BOLD, REGULAR, paragraph, register
from billing.invoices.models import Document, DocumentLine, Kind

_GREY = colors.HexColor("#5a6270")
_TEXT = ParagraphStyle("text", fontName=REGULAR, fontSize=9, leading=13)
_SMALL = ParagraphStyle("small", _TEXT, fontSize=8, leading=11, textColor=_GREY)
_RIGHT = ParagraphStyle("right", _TEXT, alignment=2)
_STRONG = ParagraphStyle("strong", _RIGHT, fontName=BOLD)
_TITLE = ParagraphStyle("title", _TEXT, fontName=BOLD, fontSize=18, leading=24)
# The frame that reportlab puts text in has 6 points of padding on each side.
_MARGIN = 20 * mm
_WIDTH = A4[0] - 2 * _MARGIN - 12


def render(document: Document) -> bytes:
    register()
    file = io.BytesIO()
    page = SimpleDocTemplate(
        file,
        pagesize=A4,
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=_MARGIN,
        title=document.label,
        author=document.seller_lines[0],
        invariant=1,
    )
    lines = list(document.lines.all())
    page.build(
        [
            *_head(document),
            Spacer(1, 10 * mm),
            _lines(document, lines),
            Spacer(1, 4 * mm),
            _sums(document),
            *_foot(document),
        ],
        onFirstPage=_number_page(document),
        onLaterPages=_number_page(document),
    )
    return file.getvalue()


def _head(document: Document) -> list[Any]:
    title = "Invoice" if document.kind == Kind.INVOICE else "Credit note"
    facts = [("Number", document.label), ("Issued", f"{document.issued_at:%Y-%m-%d}")]
    facts.append(("For", f"{document.month:%B %Y} (UTC)"))
    if document.corrects is not None:
        corrected = document.corrects
        facts.append(("Corrects", f"{corrected.label} of {corrected.issued_at:%Y-%m-%d}"))
    elif document.due_micros:
        facts.append(("To be paid by", f"{document.due_on:%Y-%m-%d}"))
    rows = [[Paragraph(name, _SMALL), Paragraph(paragraph(value), _TEXT)] for name, value in facts]
    parties = Table(
        [[_address(document.buyer_lines), Table(rows, colWidths=(30 * mm, 45 * mm))]],
        colWidths=(_WIDTH - 75 * mm, 75 * mm),
        style=TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (0, 0), 0)]),
    )
    return [
        Paragraph(paragraph(" · ".join(document.seller_lines)), _SMALL),
        Spacer(1, 12 * mm),
        Paragraph(title, _TITLE),
        Spacer(1, 6 * mm),
        parties,
    ]


def _address(lines: Sequence[str]) -> list[Paragraph]:
    return [Paragraph(paragraph(line), _TEXT) for line in lines]


def _lines(document: Document, lines: Sequence[DocumentLine]) -> Table:
    code = document.currency
    heads = ("", "What", "Characters", "Per million", f"Amount, {code}")
    styles = (_SMALL, _SMALL, _SMALL_RIGHT, _SMALL_RIGHT, _SMALL_RIGHT)
    rows = [[Paragraph(head, style) for head, style in zip(heads, styles, strict=True)]]
    for line in lines:
        characters = f"{line.characters:,}" if line.characters else ""
        price = money.amount(line.per_million_micros, code) if line.characters else ""
        cells = (str(line.position), line.text, characters, price)
        amount = money.amount(line.amount_micros, code)
        rows.append(
            [
                Paragraph(paragraph(cell), _TEXT if place < 2 else _RIGHT)
                for place, cell in enumerate((*cells, amount))
            ]
        )
    widths = (9 * mm, _WIDTH - 102 * mm, 32 * mm, 28 * mm, 33 * mm)
    return Table(rows, colWidths=widths, repeatRows=1, style=_GRID)


def _sums(document: Document) -> Table:
    is_note = document.kind == Kind.CREDIT_NOTE
    rows = [("Credited" if is_note else "Total", document.total_micros)]
    if document.credit_micros:
        what = "Put back as prepaid credit" if is_note else "From prepaid credit"
        rows.append((what, document.credit_micros if is_note else -document.credit_micros))
        rows.append(("No longer to be paid" if is_note else "To be paid", document.due_micros))
    last = len(rows) - 1
    cells = [
        [
            Paragraph(name, _STRONG if place == last else _RIGHT),
            Paragraph(money.text(micros, document.currency), _STRONG if place == last else _RIGHT),
        ]
        for place, (name, micros) in enumerate(rows)
    ]
    return Table(cells, colWidths=(_WIDTH - 45 * mm, 45 * mm), style=_PLAIN)


def _foot(document: Document) -> list[Any]:
    parts = []
    if document.top_up_characters:
        number = document.top_up_characters
        topped_up = (
            f"{number:,} of these characters {'was' if number == 1 else 'were'} not spoken:"
            " short requests are paid for up to their price's minimum."
        )
        parts.append(Paragraph(topped_up, _TEXT))
    if document.reason:
        parts.append(Paragraph(paragraph(f"Reason: {document.reason}"), _TEXT))
    parts += [Paragraph(paragraph(line), _SMALL) for line in document.note.splitlines() if line]
    return [Spacer(1, 10 * mm), *parts]


def _number_page(document: Document) -> Any:
    def draw(canvas: Any, page: Any) -> None:
        canvas.setFont(REGULAR, 8)
        canvas.setFillColor(_GREY)
        canvas.drawRightString(A4[0] - _MARGIN, 12 * mm, f"{document.label} · page {page.page}")

    return draw


_SMALL_RIGHT = ParagraphStyle("small right", _SMALL, alignment=2)
_PLAIN = TableStyle([("RIGHTPADDING", (0, 0), (-1, -1), 6)])
_GRID = TableStyle(
    [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, 0), 0.8, _GREY),
        ("LINEBELOW", (0, 1), (-1, -1), 0.3, colors.HexColor("#d6dbe3")),
    ]
)
