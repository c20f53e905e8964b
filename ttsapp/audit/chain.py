"""The hash chain over audit rows: pure functions, so that an export can be checked anywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

START = "0" * 64
# What a row's hash covers, besides the hash before it.
COVERED = (
    *("id", "at", "tenant", "actor", "action", "target", "detail", "changes"),
    *("reason", "address", "request_id", "day", "sequence"),
)


@dataclass(frozen=True, slots=True)
class Break:
    """`sequence`: the first row of the day that does not fit what is before it."""

    scope: str
    day: str
    sequence: int
    why: str


def hash_of(previous: str, row: Mapping[str, Any]) -> str:
    """SHA-256 over the hash before and the row as JSON: keys sorted, no spaces."""
    covered = {name: row[name] for name in COVERED}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def first_break(
    scope: str, day: str, rows: Iterable[Mapping[str, Any]], previous: str, length: int, head: str
) -> Break | None:
    """Rows in the order of their sequence; `previous`: the head of the day before."""
    sequence = 0
    for sequence, row in enumerate(rows, start=1):
        if row["sequence"] != sequence:
            return Break(scope, day, sequence, "a row is missing")
        if hash_of(previous, row) != row["hash"]:
            return Break(scope, day, sequence, "a row was changed")
        previous = row["hash"]
    if sequence != length or previous != head:
        return Break(scope, day, sequence + 1, "rows are missing at the end")
    return None
