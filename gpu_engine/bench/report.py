"""Figures as a table, and as a file that can be read again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

FIRST_AUDIO_MS, REAL_TIME, START_S, SETUP_S = 150.0, 0.5, 10.0, 300.0


@dataclass(frozen=True)
class TargetLine:
    """One promise and what was measured; `limit` is the largest value that keeps it."""

    name: str
    limit: float
    measured: float
    unit: str

    @property
    def is_met(self) -> bool:
        return self.measured <= self.limit


def targets(result: dict[str, Any]) -> Iterator[TargetLine]:
    """Only those that were measured."""
    for row in result["open_loop"]:
        if row["rate"] == 1 and row["first_audible_ms"]:
            late = row["first_audible_ms"]["p95"]
            yield TargetLine("first audio, p95 at 1 request/s", FIRST_AUDIO_MS, late, "ms")
    if result["alone"]:
        worst = max(result["alone"])
        yield TargetLine("real-time factor of one stream, worst", REAL_TIME, worst, "")
    if result["together"]:
        streams = result["together"][0]["requests"]
        broken = sum(row["underruns"] + row["failed"] for row in result["together"])
        yield TargetLine(f"{streams} streams together, underruns", 0, broken, "")
    if result["start_seconds"] is not None:
        yield TargetLine("second start", START_S, result["start_seconds"], "s")
    if result["setup_seconds"] is not None:
        yield TargetLine("set-up from a bare clone", SETUP_S, result["setup_seconds"], "s")


def target_table(result: dict[str, Any]) -> Table:
    table = Table("promise", "limit", "measured", "", title="Promises")
    for line in targets(result):
        unit = f" {line.unit}" if line.unit else ""
        verdict = "[green]kept[/]" if line.is_met else "[red]missed[/]"
        table.add_row(line.name, f"{line.limit:g}{unit}", f"{line.measured:g}{unit}", verdict)
    return table


def load_table(result: dict[str, Any]) -> Table:
    """One row a rate, and one a round of streams together."""
    table = Table(title="First audible sample, ms after the request was sent")
    for name in ("load", "requests", "failed", "p50", "p95", "p99", "underruns", "audio-s/s"):
        table.add_column(name, justify="left" if name == "load" else "right")
    for row in result["open_loop"]:
        table.add_row(f"{row['rate']:g} requests/s", *_cells(row))
    for row in result["together"]:
        table.add_row(f"{row['requests']} together", *_cells(row))
    return table


def write(result: dict[str, Any], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def _cells(row: dict[str, Any]) -> list[str]:
    first = row["first_audible_ms"]
    times = [f"{first[name]:.0f}" if first else "-" for name in ("p50", "p95", "p99")]
    counts = [str(row["requests"]), str(row["failed"])]
    return [*counts, *times, str(row["underruns"]), f"{row['audio_s_per_s']:.1f}"]
