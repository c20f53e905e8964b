"""`make bench-gateway`: real processes, real requests, and figures that add up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def test_it_works(tmp_path: Path) -> None:
    out = tmp_path / "gateway.json"
    command = [sys.executable, "-m", "gpu_engine.bench.gateway", "--out", str(out)]
    command += ["--rates", "5", "10", "--requests", "5", "--longest", "1", "--rounds", "2"]
    command += ["--form-seconds", "0.2"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    assert "added" in run.stdout
    report = json.loads(out.read_text("utf-8"))
    assert report["machine"]["command"] == "make bench-gateway"
    assert report["machine"]["cores"] > 0
    assert [entry["rate"] for entry in report["rates"]] == [5.0, 10.0]
    for entry in report["rates"]:
        assert len(entry["rounds"]) == 2
        assert entry["best"] in entry["rounds"]
        for one in entry["rounds"]:
            assert one["requests"] >= 1
            assert_sums(one)
    asked = {(entry["dialect"], entry["format"]) for entry in report["forms"]}
    assert asked == {
        *(("openai", name) for name in ("pcm", "wav", "mp3", "opus", "aac", "flac")),
        *((dialect, "pcm") for dialect in ("elevenlabs", "cartesia", "deepgram")),
        ("dashscope", "pcm in events"),
    }
    for entry in report["forms"]:
        assert_sums(entry)


def assert_sums(row: dict[str, dict[str, float]]) -> None:
    for name in ("p50", "p95", "p99"):
        added = row["gateway_ms"][name] - row["engine_ms"][name]
        assert row["added_ms"][name] == pytest.approx(added, abs=0.002)
        assert row["engine_ms"][name] > 0
