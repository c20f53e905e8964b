"""The file of step times: rows of several runs, each with its run and the kernels it measured."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gpu_engine.bench.machine import describe
from gpu_engine.bench.report import write
from gpu_engine.bench.trials import Trial

PACKAGE = Path(__file__).parent.parent
STEPS = (
    *(f"kernels/{name}.py" for name in ("ops", "slots", "weights")),
    *(
        f"kernels/fused/{name}.py"
        for name in (
            "attention",
            "counters",
            "linear",
            "prompt_attention",
            "rows",
            "sampling",
            "slot_attention",
        )
    ),
    *(f"runner/device/{name}.py" for name in ("folded", "frame", "talker")),
)
CODEC = (
    "kernels/weights.py",
    *(
        f"kernels/fused/{name}.py"
        for name in ("columns", "convolution", "counters", "linear", "numbers", "window")
    ),
    *(f"runner/device/{name}.py" for name in ("codec", "codec_weights", "module_codec")),
)
MEASURED = ("ok", "wrong")


def source_of(module: str, package: Path = PACKAGE) -> str:
    """A hash of what a module's steps are made of: with another one, old times say nothing."""
    digest = hashlib.sha256()
    for name in CODEC if module == "codec" else STEPS:
        file = package / name
        digest.update(name.encode() + (file.read_bytes() if file.exists() else b""))
    return digest.hexdigest()[:12]


@dataclass(slots=True)
class Verdict:
    """What became of a trial. `error` of hidden states or logits: ||mine - exact|| / ||exact||;
    `plain_error` the same of plain PyTorch in the model's dtype; `snr_db` of codec audio, and
    `plain_snr_db` of the modules' with products in the same precision. `at` is its run's."""

    module: str
    variant: str
    rows: int
    frames: int
    state: str = "untried"
    p50_ms: float | None = None
    least_ms: float | None = None
    floor_ms: float | None = None
    error: float | None = None
    plain_error: float | None = None
    snr_db: float | None = None
    plain_snr_db: float | None = None
    build_s: float | None = None
    problem: str = ""
    at: str = ""
    source: str = ""

    @property
    def trial(self) -> Trial:
        return Trial(self.module, self.variant, self.rows, self.frames)


class Record:
    """A run's rows over those of the runs before it."""

    def __init__(self, head: dict[str, Any], torch: str, file: Path, before: Path | None) -> None:
        """`head` says what was measured. Raises SystemExit where `before` measured another."""
        kept: dict[str, Any] = {} if before is None else json.loads(before.read_text("utf-8"))
        if other := {name: kept[name] for name in head if kept and kept[name] != head[name]}:
            raise SystemExit(f"--skip-done {before} measured {other}, not {head}: leave it out")
        self._head, self._file = head, file
        self._run = describe() | {"torch": torch}
        self._runs: list[dict[str, Any]] = kept.get("runs", [])
        self._rows = {v.trial: v for v in (Verdict(**row) for row in kept.get("steps", []))}
        self.left: list[str] = []

    def has(self, trial: Trial) -> bool:
        """Whether it was measured with the kernels that it would be measured with now."""
        row = self._rows.get(trial)
        return row is not None and row.state in MEASURED and row.source == source_of(trial.module)

    def add(self, verdict: Verdict) -> None:
        """Written at once: a run that is stopped leaves what it has."""
        verdict.at, verdict.source = self._run["at"], source_of(verdict.module)
        self._rows[verdict.trial] = verdict
        self.save()

    def save(self) -> None:
        rows = self._rows.values()
        named = {row.at for row in rows}
        runs = [run for run in (*self._runs, self._run) if run["at"] in named]
        steps = [asdict(row) for row in rows]
        write({**self._head, "runs": runs, "left_out": self.left, "steps": steps}, self._file)
