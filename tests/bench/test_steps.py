"""`bench steps`: every module at every batch, without a server."""

from __future__ import annotations

import json
from pathlib import Path

from gpu_engine.__main__ import main
from gpu_engine.bench.steps import Cell, real_time


def test_it_works(tmp_path: Path) -> None:
    out = tmp_path / "steps.json"
    flags = ["--device", "cpu", "--rows", "1", "2", "--frames", "1", "2"]

    status = main(["bench", "steps", *flags, "--seconds", "0", "--out", str(out)])

    assert status == 0
    result = json.loads(out.read_text())
    assert (result["checkpoint"], result["device"], result["context"]) == ("tiny", "cpu", 100)
    measured = [(step["module"], step["rows"], step["frames"]) for step in result["steps"]]
    of_a_batch = [("talker", 0), ("predictor", 0), ("codec", 1), ("codec", 2)]
    expected = [(module, rows, frames) for rows in (1, 2) for module, frames in of_a_batch]
    assert measured == [("prefill", 1, 0), *expected]
    assert all(step["calls"] == 5 for step in result["steps"])
    assert [row["rows"] for row in result["streams"]] == [1, 2]


def test_a_frame_costs_its_steps_and_its_share_of_the_largest_decode() -> None:
    steps = [("talker", 0, 4.0), ("predictor", 0, 6.0), ("codec", 1, 9.0), ("codec", 4, 24.0)]
    cells = [Cell(module, 2, frames, 5, ms, ms, ms) for module, frames, ms in steps]

    assert real_time(cells, 2) == {
        "rows": 2,
        "codec_frames": 4,
        "frame_ms": 16.0,
        "times_real_time": 10.0,
    }
