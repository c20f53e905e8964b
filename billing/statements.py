"""The statements that the ORM has no words for: insert what is new, add to what is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

Row = TypeVar("Row", bound=Model)

# SQLite takes 32,766 parameters, and no table here has 60 columns.
_ROWS = 500


def insert_new(rows: Sequence[Row]) -> list[Row]:
    """Inserts the rows whose primary key is not there yet, and returns those."""
    inserted = set(_execute(rows, "ON CONFLICT DO NOTHING RETURNING {key}"))
    return [row for row in rows if _stored_key(row) in inserted]


def add_up(rows: Sequence[Row], names: Sequence[str]) -> None:
    """Inserts the rows; where a primary key is there, adds these fields to that row instead."""
    sums = ", ".join(f"{name} = {{table}}.{name} + excluded.{name}" for name in names)
    list(_execute(rows, f"ON CONFLICT ({{key}}) DO UPDATE SET {sums}"))


def _execute(rows: Sequence[Row], conflict: str) -> Iterator[Any]:
    for start in range(0, len(rows), _ROWS):
        part = rows[start : start + _ROWS]
        meta = part[0]._meta
        fields = meta.concrete_fields
        quote = connection.ops.quote_name
        columns = ", ".join(quote(str(field.column)) for field in fields)
        places = ", ".join([f"({', '.join(['%s'] * len(fields))})"] * len(part))
        names = {"table": quote(meta.db_table), "key": quote(str(meta.pk.column))}
        sql = f"INSERT INTO {names['table']} ({columns}) VALUES {places} "
        values = [
            field.get_db_prep_save(field.pre_save(row, True), connection)
            for row in part
            for field in fields
        ]
        with connection.cursor() as cursor:
            cursor.execute(sql + conflict.format(**names), values)
            if cursor.description:
                yield from [found[0] for found in cursor.fetchall()]


def _stored_key(row: Model) -> Any:
    return row._meta.pk.get_db_prep_save(row.pk, connection)
