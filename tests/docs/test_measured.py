"""The README's figures: which rows stored results give, and what a row says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.measured import Line, lines, rewritten, table

MACHINE = {
    "processor": "Xeon",
    "cores": 16,
    "gpu": "NVIDIA H200\nNVIDIA H200",
    "commit": "abc1234",
    "command": "python -m gpu_engine bench load --rates 1 10",
    "at": "2026-11-30T11:44:34+00:00",
    "load_average": [0.5, 1.0, 1.0],
}


def stored(folder: Path, name: str, result: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(json.dumps(result), "utf-8")


def step(module: str, variant: str, rows: int, ms: float, state: str = "ok") -> dict[str, Any]:
    row = {"module": module, "variant": variant, "rows": rows, "frames": 0, "p50_ms": ms}
    return row | {"state": state, "at": MACHINE["at"]}


def test_no_file_gives_no_row(tmp_path: Path) -> None:
    assert lines(tmp_path) == []


def test_a_row_and_what_it_was_measured_on() -> None:
    text = table([Line("first audio", 15, 12.34, "ms", MACHINE)])
    assert text.splitlines() == [
        "| promise | limit | measured |  | commit |",
        "| --- | --- | --- | --- | --- |",
        "| first audio | 15 ms | 12.3 ms | kept | abc1234 |",
        "",
        "* `python -m gpu_engine bench load`: Xeon, 16 cores, GPU: 2 x NVIDIA H200; "
        "commit abc1234, 2026-11-30, load average before: 0.5.",
    ]


def test_a_limit_from_below() -> None:
    short = Line("characters", 6000, 5999.0, "a second", MACHINE, is_least=True)
    assert short.cells[1:4] == ("≥ 6,000 a second", "5,999 a second", "**missed**")
    enough = Line("characters", 6000, 6000.0, "a second", MACHINE, is_least=True)
    assert enough.cells[3] == "kept"


def test_steps_of_what_the_product_runs(tmp_path: Path) -> None:
    """Given faster variants and a wrong one, when rows are made, then the plan's."""
    steps = [
        step("talker", "library", 1, 0.5),
        step("talker", "early", 1, 1.4),
        step("talker", "library", 64, 1.9),
        step("predictor", "early", 1, 1.2, "wrong"),
        step("predictor", "early", 2, 1.6),
    ]
    stored(tmp_path, "h200-steps", {"runs": [MACHINE], "steps": steps})
    found = [(line.name, line.measured) for line in lines(tmp_path)]
    assert found == [("H200: Talker step, 1 row", 1.4), ("H200: Talker step, 64 rows", 1.9)]


def test_a_rate_is_the_median_of_its_seeds_and_every_underrun(tmp_path: Path) -> None:
    rows = [
        {"rate": 10.0, "ttfa_p95_ms": ms, "underrun_streams": underruns, "failed": 0}
        for ms, underruns in [(18.0, 0), (30.0, 2), (19.0, 0)]
    ]
    stored(tmp_path, "h200-load", {"machine": MACHINE, "rows": rows})
    found = [line.cells[:4] for line in lines(tmp_path)]
    assert found == [
        ("H200: first audio, p95 at 10 requests/s", "20 ms", "19 ms", "kept"),
        ("H200: underruns and failures at 10 requests/s", "0", "2", "**missed**"),
    ]


def test_a_neighbours_burst_is_compared_with_none(tmp_path: Path) -> None:
    rows = [
        {"burst": 0, "p95_to_alone": 1.0},
        {"burst": 5, "p95_to_alone": 1.12},
        {"burst": 50, "p95_to_alone": None},
    ]
    stored(tmp_path, "neighbours", {"machine": MACHINE, "promise": 1.1, "rows": rows})
    found = [line.cells[:4] for line in lines(tmp_path)]
    name = "a tenant's first audio, p95 beside another's burst of 5, to alone"
    assert found == [(name, "1.1", "1.12", "**missed**")]


def test_only_what_stands_between_the_marks_is_written(tmp_path: Path) -> None:
    machine = MACHINE | {"command": "make eval-speech"}
    full = {"clips": 200, "wer": 0.1, "dnsmos": 3.1}
    (tmp_path / "speech").mkdir()
    stored(tmp_path, "speech/speech", {"machine": machine, "conditions": {"full": full}})
    page = rewritten("before\n<!-- measured -->\nold\n<!-- end -->\nafter\n", tmp_path)
    assert page.startswith("before\n<!-- measured -->\n| promise |")
    assert "| word errors in 200 unseen sentences | 8 % | 10 % | **missed** | abc1234 |" in page
    assert "| how they sound, DNSMOS | ≥ 3 | 3.1 | kept | abc1234 |" in page
    assert page.endswith("<!-- end -->\nafter\n")
    assert "old" not in page


@pytest.mark.parametrize("name", ["local", "h200-steps", "gateway", "metering", "speech/speech"])
def test_every_stored_file_gives_rows(name: str) -> None:
    from tests.docs.measured import FILES, STORED

    assert list(FILES[name](json.loads((STORED / f"{name}.json").read_text("utf-8"))))
