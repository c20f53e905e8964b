"""What a list is as a file: all of its rows that match, in the columns that it names."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse

from billing.invoices.export import plain
from ttsapp import database
from ttsapp.console.files import csv_file

Columns = Mapping[str, Callable[[Any], object]]
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Format:
    """`lines`: bytes of some rows; `head` comes before all of them."""

    ending: str
    type: str
    lines: Callable[[Sequence[Any]], Iterable[bytes]]
    head: bytes = b""


def fields(*names: str, of: str = "") -> Columns:
    """Columns that are called as what they show: of the rows, or of something that rows have."""
    return {name: attrgetter(f"{of}.{name}" if of else name) for name in names}


def table(columns: Columns, rows: Iterable[Any], name: str) -> HttpResponse:
    """Of a list that a page shows whole."""
    return csv_file(tuple(columns), (_cells(columns, row) for row in rows), f"{name}.csv")


def csv_of(
    columns: Columns, shown: Callable[[Sequence[Any]], Iterable[Any]] = lambda rows: rows
) -> Format:
    """`shown`: what the columns are of, for some rows of the query."""

    def lines(rows: Sequence[Any]) -> Iterator[bytes]:
        for row in shown(rows):
            yield _line([plain(cell) for cell in _cells(columns, row)])

    return Format("csv", "text/csv; charset=utf-8", lines, _line(list(columns)))


def stream(found: QuerySet[Any], name: str, format: Format) -> StreamingHttpResponse:
    """Of a list that has pages: newest first by its id, a few hundred at a time."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{format.ending}"'}
    return StreamingHttpResponse(_parts(found, format), content_type=format.type, headers=headers)


async def _parts(found: QuerySet[Any], format: Format) -> AsyncIterator[bytes]:
    last: Any = None
    if format.head:
        yield format.head
    while True:
        rest = found if last is None else found.filter(pk__lt=last)
        rows, lines = await database.read(_part, rest, format)
        for line in lines:
            yield line
        if len(rows) < AT_ONCE:
            return
        last = rows[-1].pk


def _part(rest: QuerySet[Any], format: Format) -> tuple[list[Any], list[bytes]]:
    """In the thread that may ask the database, lines and all."""
    rows = list(rest[:AT_ONCE])
    return rows, list(format.lines(rows))


def _cells(columns: Columns, row: Any) -> list[object]:
    return [_cell(value(row)) for value in columns.values()]


def _cell(value: object) -> object:
    """Times as programs write them; what a spreadsheet has no type for as text."""
    if isinstance(value, datetime):
        return value.isoformat()
    return "" if value is None else value if isinstance(value, int | float) else str(value)


def _line(cells: Sequence[object]) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerow(cells)
    return file.getvalue().encode()
