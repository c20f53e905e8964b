"""The statements that the ORM has no words for: insert what is new, add to what is there, and read
thousands of rows without a second look at each value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Field, JSONField, Model, QuerySet
from psycopg.abc import Buffer
from psycopg.adapt import Loader

# A row as it is stored: by the names that a model's instances have for its columns.
Row = Mapping[str, Any]
Column = tuple[Any, ...]

# SQLite takes 32,766 parameters, and no table here has 60 columns.
_ROWS = 500
_SHORT = 100
_NUMBERS: set[type] = {int, float}


def insert_new(model: type[Model], rows: Sequence[Row]) -> set[Any]:
    """Inserts the rows whose primary key is not there yet, and returns their keys.

    A row names every column, also those that saving would set: an instance for each row would cost
    more than all else that is done for it."""
    return set(_execute(model, rows, "ON CONFLICT DO NOTHING RETURNING {key}"))


def add_up(model: type[Model], rows: Sequence[Row], names: Sequence[str]) -> None:
    """Inserts the rows; where a primary key is there, adds these fields to that row instead."""
    sums = ", ".join(f"{name} = {{table}}.{name} + excluded.{name}" for name in names)
    list(_execute(model, rows, f"ON CONFLICT ({{key}}) DO UPDATE SET {sums}"))


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


def _execute(model: type[Model], rows: Sequence[Row], conflict: str) -> Iterator[Any]:
    """The primary keys of the rows that it returns, if it does."""
    meta, quote = model._meta, connection.ops.quote_name
    names = {"table": quote(meta.db_table), "key": quote(str(meta.pk.column))}
    columns = ", ".join(quote(str(field.column)) for field in meta.concrete_fields)
    values = itemgetter(*(field.attname for field in meta.concrete_fields))
    for start in range(0, len(rows), _ROWS):
        part = list(zip(*map(values, rows[start : start + _ROWS]), strict=True))
        source, parameters = _source(meta.concrete_fields, part)
        sql = f"INSERT INTO {names['table']} ({columns}) {source} {conflict.format(**names)}"
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            if cursor.description:
                yield from [meta.pk.to_python(found) for (found,) in cursor.fetchall()]


def _source(fields: Sequence[Field[Any, Any]], columns: Sequence[Column]) -> tuple[str, list[Any]]:
    """The rows in SQL. Postgres takes a column as one value, and that as its text: the driver
    would take longer over a statement of thousands, or an array's elements, than the database."""
    if connection.vendor == "postgresql":
        arrays = ", ".join(f"%s::{field.db_type(connection)}[]" for field in fields)
        return f"SELECT * FROM unnest({arrays})", list(map(_array, fields, columns))
    stored = [
        [field.get_db_prep_value(value, connection) for value in column]
        for field, column in zip(fields, columns, strict=True)
    ]
    row = f"({', '.join(['%s'] * len(fields))})"
    values = [value for each in zip(*stored, strict=True) for value in each]
    return f"VALUES {', '.join([row] * len(columns[0]))}", values


def _array(field: Field[Any, Any], column: Column) -> str:
    """As Postgres writes an array. JSON is known by its field alone: any other value by its
    type."""
    if isinstance(field, JSONField):
        column = tuple(
            None if value is None else json.dumps(value, cls=field.encoder) for value in column
        )
    kinds = set(map(type, column))
    if kinds <= _NUMBERS:
        return f"{{{repr(list(column))[1:-1]}}}"
    if len(kinds) == 1:
        return f"{{{','.join(map(_WRITTEN.get(kinds.pop(), _quoted), column))}}}"
    return f"{{{','.join([_WRITTEN.get(type(value), _quoted)(value) for value in column])}}}"


def _quoted(value: Any) -> str:
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@lru_cache(maxsize=10_000)
def _known(text: str) -> str:
    """Names of models, voices and formats come again and again."""
    return _quoted(text)


_WRITTEN: dict[type, Callable[[Any], str]] = {
    int: str,
    float: repr,
    str: lambda text: _known(text) if len(text) < _SHORT else _quoted(text),
    UUID: lambda value: f"{value.int:032x}",
    bytes: lambda value: f'"\\\\x{value.hex()}"',
    datetime: datetime.isoformat,
    type(None): lambda _: "NULL",
}
