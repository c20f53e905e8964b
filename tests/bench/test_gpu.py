"""`bench gpu`: its windows and files, the random checkpoint, and that it needs no control plane."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from gpu_engine.bench import add_arguments
from gpu_engine.bench.gpu import Report, occupancy, run_windows
from gpu_engine.bench.own_engine import own_engine
from gpu_engine.bench.random_checkpoint import LOUDNESS, write_random
from gpu_engine.models.checkpoint import load_checkpoint
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.server.settings import ASSETS
from tests.bench.test_rates import line

COLUMNS = {
    *("rate", "requests", "failed", "ttfa_p50_ms", "ttfa_p95_ms", "ttfa_p99_ms", "seed"),
    *("underrun_streams", "e2e_p95_ms", "characters_per_s"),
}


@dataclass
class Scripted:
    """Windows of an engine that is in time up to a rate."""

    in_time_to: float
    asked: list[tuple[float, int]] = field(default_factory=list)

    async def one(self, rate: float, seed: int) -> dict[str, Any]:
        self.asked.append((rate, seed))
        return line(rate, seed=seed, underrun_streams=0 if rate <= self.in_time_to else 3)


@dataclass
class Counted:
    """A budget of so many windows."""

    left: int

    def allows(self, seconds: float) -> bool:
        self.left -= 1
        return self.left >= 0


def parsed(tmp_path: Path, *words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(["gpu", "--out", str(tmp_path), *words])


def stored(tmp_path: Path, name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((tmp_path / f"h200-{name}.json").read_text("utf-8"))
    return result


async def test_it_works(tmp_path: Path) -> None:
    """Given an engine that keeps up to 30 a second, when there is time, then it is found."""
    arguments = parsed(tmp_path, "--rates", "1", "20", "60", "--seeds", "1", "2", "--price", "3.6")
    windows, report = Scripted(30.0), Report(arguments)
    await run_windows(windows, arguments, Counted(99), report)  # type: ignore[arg-type]

    assert windows.asked[:6] == [(1.0, 1), (20.0, 1), (60.0, 1), (1.0, 2), (20.0, 2), (60.0, 2)]
    rows = stored(tmp_path, "load")["rows"]
    assert [row["rate"] for row in rows] == [1.0, 20.0, 60.0] * 2
    assert set(rows[0]) >= COLUMNS
    found = stored(tmp_path, "capacity")
    assert 27.0 < found["capacity"] <= 30.0
    assert found["characters_per_s"] == pytest.approx(60 * found["capacity"])
    assert found["cost_per_million_characters"] == pytest.approx(
        1e6 * 3.6 / 3600 / found["characters_per_s"], rel=1e-3
    )


async def test_a_budget_cuts_the_end(tmp_path: Path) -> None:
    arguments = parsed(tmp_path, "--rates", "1", "20", "--seeds", "1", "2")
    windows, report = Scripted(30.0), Report(arguments)
    await run_windows(windows, arguments, Counted(3), report)  # type: ignore[arg-type]
    report.save()

    assert windows.asked == [(1.0, 1), (20.0, 1), (1.0, 2)]
    assert stored(tmp_path, "load")["left_out"] == ["20 requests/s, seed 2"]
    assert stored(tmp_path, "capacity")["capacity"] == 20.0


def test_without_a_checkpoint_the_report_says_so(tmp_path: Path) -> None:
    report = Report(parsed(tmp_path))
    report.save()
    target = stored(tmp_path, "load")["target"]
    assert target["weights"] == "random, of the official 1.7B shapes, bf16"
    assert target["frames_a_word"] == 5


def status(steps: int, rows: int, busy: float) -> pb.EngineStatus:
    module = pb.ModuleStatus(steps=steps, rows=rows, busy_seconds=busy)
    return pb.EngineStatus(modules={"talker": module, "align": pb.ModuleStatus()})


def test_what_modules_did_meanwhile() -> None:
    found = occupancy(status(10, 20, 1.0), status(110, 1220, 1.5), seconds=2.0)
    assert found == {"talker": {"rows_a_step": 12.0, "ms_a_step": 5.0, "busy": 0.25}}


def test_a_random_checkpoint_loads_and_is_heard(tmp_path: Path) -> None:
    """Narrowed, but in every other way as on a GPU."""
    write_random(tmp_path, "1.7B", torch.device("cpu"), small=True)
    loaded = load_checkpoint(tmp_path)

    assert (loaded.config.kind, loaded.config.size) == ("custom_voice", "1.7b")
    assert loaded.config.sampling.do_sample
    end = loaded.config.talker.codec_eos_token_id
    assert not loaded.talker.codec_head.weight[end].any()
    codes = torch.randint(0, 64, (1, 16, 8), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        loudness = loaded.codec_decoder(codes).square().mean().sqrt()
    assert LOUDNESS / 3 < loudness < LOUDNESS * 3


async def test_an_engine_that_does_not_start_tells_why(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"(?s)the engine did not start:.*config\.json"):
        async with own_engine(tmp_path / "nothing", "cpu", tmp_path, tmp_path / "log"):
            pass


async def test_an_engine_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="the engine was not ready after 0 s"):
        async with own_engine(ASSETS / "tiny", "cpu", tmp_path, tmp_path / "log", within=0.3):
            pass


# Of the product's and its tests' packages, what an engine that is measured alone does not need.
ABSENT = {
    *("django", "channels", "rest_framework", "celery", "redis", "allauth", "whitenoise"),
    *("uvicorn", "uvloop", "httptools", "websockets", "psycopg", "cryptography", "reportlab"),
    *("av", "lameenc", "num2words", "py3langid", "matplotlib", "httpx", "pytest"),
}
SITE = f"""
import importlib.metadata, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT!r}:
            raise ModuleNotFoundError(f"no {{name}} on a bare machine", name=name)

def version(name, known=importlib.metadata.version):
    if name == "parlance":
        raise importlib.metadata.PackageNotFoundError(name)
    return known(name)

sys.meta_path.insert(0, Missing())
importlib.metadata.version = version
"""


@pytest.mark.timeout(300)
def test_a_bare_machine_measures_a_real_engine(tmp_path: Path) -> None:
    """Front and core too: every process that is started lacks the same packages."""
    (tmp_path / "sitecustomize.py").write_text(SITE, "utf-8")
    flags = ["--device", "cpu", "--checkpoint", str(ASSETS / "tiny"), "--max-streams", "2"]
    flags += ["--rates", "2", "--seeds", "1", "--seconds", "1", "--warm-up", "0.5", "--most", "2"]
    flags += ["--first-audio-ms", "60000", "--budget", "120", "--out", str(tmp_path)]
    flags += ["--trace", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "gpu_engine", "bench", "gpu", *flags],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "no page: matplotlib is not installed" in done.stdout.replace("\n", " ")
    (row, *_) = stored(tmp_path, "load")["rows"]
    assert set(row) >= COLUMNS
    assert (row["rate"], row["failed"]) == (2.0, 0)
    assert row["requests"] > 0
    assert row["ttfa_p50_ms"] > 0
    assert row["modules"]["talker"]["rows_a_step"] >= 1
    trace = json.loads(gzip.decompress((tmp_path / "h200-trace-2.json.gz").read_bytes()))
    assert {"prefill", "talker", "codec"} <= {each["name"] for each in trace["traceEvents"]}
