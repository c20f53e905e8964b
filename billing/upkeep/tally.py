"""What a reconciliation added up: each place that has the sum, beside what the ledger says."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Source(StrEnum):
    """Where charged characters are written down, besides the events."""

    HOUR = "hour"
    DAY = "day"
    COUNTERS = "counters"
    INVOICES = "invoices"


@dataclass(slots=True)
class Tally:
    """Charged characters by source, and of the same requests by the ledger."""

    sides: dict[Source, tuple[int, int]] = field(default_factory=dict)

    def add(self, source: Source, counted: int, ledger: int) -> None:
        before = self.sides.get(source, (0, 0))
        self.sides[source] = before[0] + counted, before[1] + ledger

    def as_json(self) -> list[list[str | int]]:
        return [[source.value, *both] for source, both in self.sides.items()]
