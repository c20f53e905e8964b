"""What `bench neighbours` does and says, against an engine that answers at once."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from itertools import islice

from rich.console import Console

from gpu_engine.bench import neighbours
from gpu_engine.bench.client import Take
from tests.bench.scripted_engine import ScriptedEngine


def asked(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    neighbours.add_arguments(parser)
    return parser.parse_args(arguments)


def heard(*first_ms: float, failure: str = "") -> list[Take]:
    sound = bytearray(b"\x00\x20" * 24_000)
    return [
        Take("Hello.", [(ms / 1000, 24_000)], sound, total=ms / 1000, failure=failure)
        for ms in first_ms
    ]


async def test_each_asks_as_a_tenant_of_its_own(
    engines: tuple[str, ScriptedEngine], monkeypatch
) -> None:
    monkeypatch.setattr(neighbours, "LEAD_S", 0.05)
    address = engines[0].rpartition(",")[2]
    rows = await neighbours.measure(
        asked("--engine", address, "--rate", "50", "--bursts", "3", "--seconds", "0.2",
              "--rounds", "2"), Console(quiet=True)
    )  # fmt: skip
    tenants = Counter(start.tenant for start in engines[1].started)
    assert [row["burst"] for row in rows] == [0, 3]
    assert tenants["bob"] == sum(row["requests"] for row in rows)
    assert tenants["alice"] == rows[1]["alices_requests"] > 0
    assert rows[0]["alices_requests"] == 0
    assert neighbours.table(rows).row_count == 2
    json.dumps(rows)


def test_bobs_p95_is_compared_with_his_own_alone() -> None:
    rows = neighbours.rows_of(
        {0: heard(100, 100), 5: heard(100, 110)}, {0: [], 5: heard(300)}, seconds=2.0
    )
    assert [row["p95_to_alone"] for row in rows] == [1.0, 1.1]
    assert [row["alices_audio_s_per_s"] for row in rows] == [0.0, 0.5]


def test_failures_are_counted_and_no_figures_are_made_of_them() -> None:
    takes = {0: heard(100, failure="UNAVAILABLE: gone"), 5: heard(100)}
    rows = neighbours.rows_of(takes, {0: [], 5: []}, seconds=1.0)
    assert [(row["failed"], row["p95_to_alone"]) for row in rows] == [(1, None), (0, None)]
    assert neighbours.table(rows).row_count == 2


def test_alices_texts_differ_from_round_to_round() -> None:
    rounds = [list(islice(neighbours.alices_texts(seed), 3)) for seed in (0, 1)]
    assert len({seed for texts in rounds for seed, _ in texts}) == 6
