"""The statements that the ORM has no words for: insert what is new, add to what is there, and read
thousands of rows without a second look at each value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Field, JSONField, Model, QuerySet
from psycopg.abc import Buffer
from psycopg.adapt import Loader

Row = TypeVar("Row", bound=Model)

# SQLite takes 32,766 parameters, and no table here has 60 columns.
_ROWS = 500


def insert_new(rows: Sequence[Row]) -> list[Row]:
    """Inserts the rows whose primary key is not there yet, and returns those.

    Each is inserted as it stands: with every field set, also those that saving would set."""
    inserted = set(_execute(rows, "ON CONFLICT DO NOTHING RETURNING {key}"))
    return [row for row in rows if row.pk in inserted]


def add_up(rows: Sequence[Row], names: Sequence[str]) -> None:
    """Inserts the rows; where a primary key is there, adds these fields to that row instead."""
    sums = ", ".join(f"{name} = {{table}}.{name} + excluded.{name}" for name in names)
    list(_execute(rows, f"ON CONFLICT ({{key}}) DO UPDATE SET {sums}"))


def read_rows(rows: QuerySet[Any, Any]) -> list[tuple[Any, ...]]:
    """Of a query for whole numbers, text and moments, UTC. Looking at every value takes Django and
    the driver longer than Postgres takes to answer, and thousands of rows have few moments."""
    if connection.vendor != "postgresql":
        return list(rows)
    with connection.cursor() as cursor:
        for name in ("timestamp", "timestamptz"):
            cursor.adapters.register_loader(name, _Moment)
        cursor.execute(*rows.query.sql_with_params())
        return list(cursor.fetchall())


class _Moment(Loader):
    def load(self, data: Buffer) -> datetime:
        return _moment(bytes(data))


@lru_cache(maxsize=10_000)
def _moment(data: bytes) -> datetime:
    return datetime.fromisoformat(data.decode()).replace(tzinfo=UTC)


def _execute(rows: Sequence[Row], conflict: str) -> Iterator[Any]:
    """The primary keys of the rows that it returns, if it does."""
    for start in range(0, len(rows), _ROWS):
        part = rows[start : start + _ROWS]
        meta, quote = part[0]._meta, connection.ops.quote_name
        names = {"table": quote(meta.db_table), "key": quote(str(meta.pk.column))}
        columns = ", ".join(quote(str(field.column)) for field in meta.concrete_fields)
        source, values = _source(part, meta.concrete_fields)
        sql = f"INSERT INTO {names['table']} ({columns}) {source} {conflict.format(**names)}"
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            if cursor.description:
                yield from [meta.pk.to_python(found) for (found,) in cursor.fetchall()]


def _source(rows: Sequence[Row], fields: Sequence[Field[Any, Any]]) -> tuple[str, list[Any]]:
    """The rows in SQL. Postgres takes a column as one value, and that as its text: the driver
    would take longer over a statement of thousands, or an array's elements, than the database."""
    columns = [[getattr(row, field.attname) for row in rows] for field in fields]
    if connection.vendor == "postgresql":
        arrays = ", ".join(f"%s::{field.db_type(connection)}[]" for field in fields)
        return f"SELECT * FROM unnest({arrays})", list(map(_array, fields, columns))
    stored = [
        [field.get_db_prep_value(value, connection) for value in column]
        for field, column in zip(fields, columns, strict=True)
    ]
    row = f"({', '.join(['%s'] * len(fields))})"
    values = [value for each in zip(*stored, strict=True) for value in each]
    return f"VALUES {', '.join([row] * len(rows))}", values


def _array(field: Field[Any, Any], column: list[Any]) -> str:
    """As Postgres writes an array. JSON is known by its field alone: any other value by its
    type."""
    if isinstance(field, JSONField):
        column = [
            None if value is None else json.dumps(value, cls=field.encoder) for value in column
        ]
    return f"{{{','.join([_WRITTEN.get(type(value), _quoted)(value) for value in column])}}}"


def _quoted(value: Any) -> str:
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_WRITTEN: dict[type, Callable[[Any], str]] = {
    int: str,
    float: repr,
    UUID: str,
    bytes: lambda value: f'"\\\\x{value.hex()}"',
    datetime: datetime.isoformat,
    type(None): lambda _: "NULL",
}
