"""Writes stored figures into the README: `make bench-table` after a benchmark."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_engine.runner.device.plan import Plan
from tests.docs.pages import ROOT

README, STORED = ROOT / "README.md", ROOT / "docs" / "benchmarks"
BLOCK = re.compile(r"<!-- measured -->\n(.*?)<!-- end -->", re.DOTALL)
HEAD = ("promise", "limit", "measured", "", "commit")
FIRST_AUDIO_MS = {1: 15, 10: 20, 20: 25, 60: 40, 100: 50}
# Milliseconds at 1 and at 64 rows, by module and frames.
STEPS_MS: dict[tuple[str, int], dict[int, float]] = {
    ("talker", 0): {1: 1.0, 64: 2.0},
    ("predictor", 0): {1: 1.5, 64: 2.5},
    ("codec", 1): {1: 0.8, 64: 2.5},
    ("codec", 4): {64: 8.0},
}
STEP_NAMES = {"talker": "Talker step", "predictor": "predictor frame", "codec": "codec decode"}


@dataclass(frozen=True)
class Line:
    """A promise, and what was measured by the run that `machine` describes."""

    name: str
    limit: float
    measured: float
    unit: str
    machine: dict[str, Any]
    is_least: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        kept = self.measured >= self.limit if self.is_least else self.measured <= self.limit
        limit = f"{'≥ ' if self.is_least else ''}{figure(self.limit, self.unit)}"
        verdict = "kept" if kept else "**missed**"
        measured = figure(self.measured, self.unit)
        return self.name, limit, measured, verdict, self.machine["commit"]


def figure(value: float, unit: str) -> str:
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{shown} {unit}".strip()


def local(result: dict[str, Any]) -> Iterator[Line]:
    for line in result["targets"]:
        machine = result["machine"]
        yield Line(line["name"], line["limit"], line["measured"], line["unit"], machine)


def gateway(result: dict[str, Any]) -> Iterator[Line]:
    for row in result["rates"]:
        for name, limit in (("p50", 2), ("p95", 5)):
            at = f"first audio, {name} added by the gateway at {counted(row['rate'], 'request')}/s"
            yield Line(at, limit, row["best"]["added_ms"][name], "ms", result["machine"])


def neighbours(result: dict[str, Any]) -> Iterator[Line]:
    """How many times its own p95 a tenant waits beside each burst."""
    for row in result["rows"]:
        if row["burst"] and row["p95_to_alone"] is not None:
            name = f"a tenant's first audio, p95 beside another's burst of {row['burst']}, to alone"
            yield Line(name, result["promise"], row["p95_to_alone"], "", result["machine"])


def scheduler(result: dict[str, Any]) -> Iterator[Line]:
    most = max(result["turns"], key=lambda row: int(row["streams"]))
    name = f"a turn of the scheduler at {most['streams']} streams, p50"
    yield Line(name, 150, most["us"]["p50"], "µs", result["machine"])


def metering(result: dict[str, Any]) -> Iterator[Line]:
    load, machine = result["load"], result["machine"]
    yield Line("metered requests", 1000, load["requests_per_second"], "a second", machine, True)
    name = f"differences in the ledger after {load['requests']:,} of them"
    yield Line(name, 0, load["differences"], "", machine)
    slowest = max(times["p95"] for times in result["year"]["answer_ms"].values())
    events = f"{result['year']['year_events'] / 1e6:.0f} million events"
    yield Line(f"a page's slowest question to {events}, p95", 300, slowest, "ms", machine)


def alignment(result: dict[str, Any]) -> Iterator[Line]:
    for edge in ("start", "end"):
        for short, title in (("mean_ms", "mean"), ("p95_ms", "p95")):
            name, limit = f"error of a word's {edge}, {title}", result["limits"][short]
            yield Line(name, limit, result[f"{edge}s"][short], "ms", result["machine"])


def speech(result: dict[str, Any]) -> Iterator[Line]:
    said, machine = result["conditions"]["full"], result["machine"]
    of = f"{said['clips']} unseen sentences"
    yield Line(f"word errors in {of}", 8, round(100 * said["wer"], 1), "%", machine)
    yield Line("how they sound, DNSMOS", 3, said["dnsmos"], "", machine, True)


def steps(result: dict[str, Any]) -> Iterator[Line]:
    """Of what the product runs, where it was right."""
    runs = {run["at"]: run for run in result["runs"]}
    for (module, frames), limits in STEPS_MS.items():
        for rows, limit in limits.items():
            variant = "fused-fp16" if frames else Plan().variant_of(rows)
            wanted = module, variant, rows, frames, "ok"
            for row in result["steps"]:
                found = (row[key] for key in ("module", "variant", "rows", "frames", "state"))
                if tuple(found) == wanted:
                    chunk = f" of {counted(frames, 'frame')}" if frames else ""
                    name = f"{STEP_NAMES[module]}{chunk}, {counted(rows, 'row')}"
                    yield Line(f"H200: {name}", limit, row["p50_ms"], "ms", runs[row["at"]])


def counted(number: float, name: str) -> str:
    return f"{number:g} {name}{'s' if number != 1 else ''}"


def load(result: dict[str, Any]) -> Iterator[Line]:
    """The median of the seeds; an underrun or a failure of any."""
    machine = result["machine"]
    for rate, limit in FIRST_AUDIO_MS.items():
        rows = [row for row in result["rows"] if row["rate"] == rate]
        times = [row["ttfa_p95_ms"] for row in rows if row["ttfa_p95_ms"] is not None]
        if times:
            at = f"at {counted(rate, 'request')}/s"
            p95 = statistics.median(times)
            yield Line(f"H200: first audio, p95 {at}", limit, p95, "ms", machine)
            broken = sum(row["underrun_streams"] + row["failed"] for row in rows)
            yield Line(f"H200: underruns and failures {at}", 0, broken, "", machine)


def capacity(result: dict[str, Any]) -> Iterator[Line]:
    speed, machine = result["characters_per_s"], result["machine"]
    rate = f"at {result['capacity']:g} requests/s" if result["capacity"] else "at no rate tried"
    name = f"H200: characters while all are in time, {rate}"
    yield Line(name, 6000, speed, "a second", machine, True)


FILES: dict[str, Callable[[dict[str, Any]], Iterator[Line]]] = {
    "local": local,
    "h200-steps": steps,
    "h200-load": load,
    "h200-capacity": capacity,
    "gateway": gateway,
    "neighbours": neighbours,
    "scheduler": scheduler,
    "metering": metering,
    "alignment": alignment,
    "speech/speech": speech,
}


def lines(folder: Path) -> list[Line]:
    """Of every file that there is, in the order of FILES."""
    found: list[Line] = []
    for name, of in FILES.items():
        file = folder / f"{name}.json"
        if file.exists():
            found += of(json.loads(file.read_text("utf-8")))
    return found


def table(found: list[Line]) -> str:
    """One row a promise, then what each was measured on."""
    rows = [HEAD, ("---",) * len(HEAD), *(line.cells for line in found)]
    body = [f"| {' | '.join(cells)} |" for cells in rows]
    machines = {line.machine["at"]: line.machine for line in found}
    return "\n".join([*body, "", *map(measured_on, machines.values()), ""])


def measured_on(machine: dict[str, Any]) -> str:
    gpus = Counter(machine["gpu"].splitlines())
    gpu = ", ".join(name if count == 1 else f"{count} x {name}" for name, count in gpus.items())
    on = f"{machine['processor']}, {machine['cores']} cores, GPU: {gpu}"
    at = f"commit {machine['commit']}, {machine['at'][:10]}"
    at += f", load average before: {machine['load_average'][0]}"
    return f"* `{command(machine)}`: {on}; {at}."


def command(machine: dict[str, Any]) -> str:
    """Without its flags: a table is narrow."""
    words = machine["command"].split()
    return " ".join(words[: next((at for at, w in enumerate(words) if w[:2] == "--"), None)])


def rewritten(page: str, folder: Path = STORED) -> str:
    """The page with its figures replaced by the stored ones."""
    block = f"<!-- measured -->\n{table(lines(folder))}<!-- end -->"
    return BLOCK.sub(lambda _: block, page)


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text("utf-8")), "utf-8")
