"""Files that pages offer for download."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

from billing.invoices import export, pdf
from billing.invoices.models import Document


def document_pdf(document: Document) -> HttpResponse:
    return _file(pdf.render(document), "application/pdf", f"{document.label}.pdf")


def documents_csv(documents: list[Document], name: str) -> HttpResponse:
    return _file(export.as_csv(documents).encode(), "text/csv; charset=utf-8", name)


def csv_file(header: Sequence[str], rows: Iterable[Sequence[object]], name: str) -> HttpResponse:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows([export.plain(cell) for cell in row] for row in rows)
    return _file(file.getvalue().encode(), "text/csv; charset=utf-8", name)


def _file(content: bytes, kind: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, kind, headers=headers)
