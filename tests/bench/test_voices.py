"""What `bench voices` does and says, against engines that answer at once."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from gpu_engine.bench import voices
from gpu_engine.bench.voice_engines import Clip, Made, find, variations
from gpu_engine.proto import engine_pb2 as pb
from tests.bench.scripted_engine import ScriptedEngine


def asked(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    voices.add_arguments(parser)
    return parser.parse_args(arguments)


async def test_it_works(engines: tuple[str, ScriptedEngine], tmp_path: Path) -> None:
    addresses, clones = engines
    result = await voices.measure(
        asked("--engines", addresses, "--clips", "2", "3", "--rates", "200", "--requests", "2",
              "--voices", "5", "--listeners", "100", "--out", str(tmp_path / "voices.json"))
    )  # fmt: skip
    names = [row["voice"] for row in result["warm"]]
    assert names == [
        "preset",
        "x-vector",
        "in context, 2 s",
        "in context, 2 s, reference first",
        "in context, 3 s",
        "in context, 3 s, reference first",
    ]
    assert [row["requests"] for row in result["warm"]] == [2] * 6
    assert result["warm"][0]["to_preset"] == 1.0
    assert [bool(request.text) for request in clones.encoded[:3]] == [False, True, True]
    assert len(clones.encoded) == 3 + 5
    assert len({request.pcm for request in clones.encoded[3:]}) == 5
    assert result["listeners"]["beside"]["failed"] == 0
    assert result["caches"] == {"speakers": {"hits": 7, "bytes": 1024}}
    assert voices.table(result["warm"]).row_count == 6
    assert "5 voices of 3.0 s made" in voices.said(result)[1]
    json.dumps(result)


async def test_a_layout_of_ones_own_is_asked_for(engines: tuple[str, ScriptedEngine]) -> None:
    addresses, clones = engines
    made = Made("in context, 2 s", b"voice", 0.1)
    arms = voices.arms(await find(addresses), [made])
    for target in arms.values():
        await target.speak("Hello.", 1)
    layouts = [start.layout for start in clones.started]
    assert layouts == [pb.TEXT_LAYOUT_UNSPECIFIED, pb.TEXT_LAYOUT_REFERENCE_FIRST]
    assert {start.voice.artifact.data for start in clones.started} == {b"voice"}


async def test_a_kind_that_is_missing_is_named(engines: tuple[str, ScriptedEngine]) -> None:
    first = engines[0].split(",")[0]
    with pytest.raises(SystemExit, match="has no engine with a base checkpoint"):
        await find(first)


def test_variations_are_all_different() -> None:
    clip = Clip(np.ones(10, np.float32), "Hello.")
    levels = [float(each.samples[0]) for each in variations(clip, 50)]
    assert len(set(levels)) == 50
    assert min(levels) == pytest.approx(0.5)
