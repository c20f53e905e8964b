"""Open-loop rows, the search for capacity, the page: without a product."""

from __future__ import annotations

import argparse
import gc
from typing import Any

import grpc
import pytest
from rich.progress import Progress

from gpu_engine.bench import add_arguments
from gpu_engine.bench.capacity import Search, in_time, verdict
from gpu_engine.bench.client import Take
from gpu_engine.bench.engine_client import EngineTarget
from gpu_engine.bench.page import page
from gpu_engine.bench.rates import COLUMNS, Say, table, window
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc

SPEECH = bytes(range(256)) * 375  # two seconds of samples


def spoken(text: str, seed: int) -> Take:
    return Take(text, [(0.1, 48_000)], bytearray(SPEECH), total=0.5)


async def measured(
    rate: float = 20.0, warm_up: float = 0.1, say: Say | None = None
) -> dict[str, Any]:
    asked: list[str] = []

    async def speak(text: str, seed: int) -> Take:
        asked.append(text)
        return spoken(text, seed)

    arguments = argparse.Namespace(warm_up=warm_up, seconds=0.3)
    with Progress(disable=True) as progress:
        line = await window(say or speak, rate, 1, arguments, progress)
    return line | {"asked": len(asked)}


async def test_it_works() -> None:
    line = await measured()
    assert (line["rate"], line["seed"], line["failed"], line["underrun_streams"]) == (20.0, 1, 0, 0)
    assert line["e2e_p95_ms"] == 500.0
    assert line["ttfa_p50_ms"] == pytest.approx(100.0, abs=30.0)


async def test_the_warm_up_does_not_count() -> None:
    line = await measured(rate=40.0, warm_up=0.2)
    assert 0 < line["requests"] < line["asked"]


async def test_a_load_looks_for_no_garbage_and_says_how_late_it_was_at_most() -> None:
    collecting: list[bool] = []

    async def say(text: str, seed: int) -> Take:
        collecting.append(gc.isenabled())
        return spoken(text, seed)

    line = await measured(say=say)
    assert set(collecting) == {False}
    assert gc.isenabled()
    assert line["load_late_most_ms"] >= line["load_late_p95_ms"] > 0


async def test_a_rate_too_low_for_its_window_still_has_a_row() -> None:
    assert (await measured(rate=0.01))["requests"] == 1


def line(rate: float, **fields: Any) -> dict[str, Any]:
    usual = {
        "requests": 60,
        "failed": 0,
        "ttfa_p50_ms": 20.0,
        "ttfa_p95_ms": 40.0,
        "ttfa_p99_ms": 45.0,
        "underrun_streams": 0,
        "e2e_p95_ms": 900.0,
        "characters_per_s": 60.0 * rate,
        "seed": 1,
        "raw_first_audible_ms": [20.0, 45.0],
    }
    return {"rate": rate} | usual | fields


@pytest.mark.parametrize(
    "fault", [{"failed": 1}, {"underrun_streams": 1}, {"ttfa_p95_ms": 51.0}, {"ttfa_p95_ms": None}]
)
def test_a_row_with_a_fault_is_not_in_time(fault: dict[str, Any]) -> None:
    assert in_time(line(4.0), 50.0)
    assert not in_time(line(4.0, **fault), 50.0)


@pytest.mark.parametrize("limit", [0.4, 3.0, 23.0, 600.0])
def test_the_search_closes_in_on_the_highest_rate(limit: float) -> None:
    search, tried = Search(1.0, 512.0), []
    while (rate := search.next(0.1)) is not None:
        tried.append(rate)
        search.learn(rate, rate <= limit)
    best = max(rate for rate in tried if rate <= limit)
    assert min(limit, 512.0) / 1.11 <= best <= limit
    assert len(tried) < 20


def test_the_search_gives_up_where_nothing_holds() -> None:
    search, tried = Search(1.0, 8.0), 0
    while (rate := search.next(0.1)) is not None:
        search.learn(rate, False)
        tried += 1
    assert tried == 5


def test_a_million_characters_cost_the_hours_they_take() -> None:
    found = verdict([line(10.0), line(20.0), line(40.0, failed=1)], 50.0, price=3.6)
    assert (found["capacity"], found["characters_per_s"]) == (20.0, 1200.0)
    # 1e6 / 1200 s are 833 s; 3.6 an hour are 0.001 a second.
    assert found["cost_per_million_characters"] == pytest.approx(0.8333)
    assert verdict([line(1.0, failed=1)], 50.0, 3.6)["capacity"] == 0.0


def test_the_page_holds_everything_and_loads_nothing() -> None:
    result = {"machine": {"gpu": "<none>"}, "target": {"url": "x"}, "rows": [line(1.0), line(2.0)]}
    html = page("Load", result, COLUMNS)
    assert "&lt;none&gt;" in html
    assert html.count("<tr>") == 3
    assert 'src="data:image/png;base64,iVBOR' in html
    assert "http" not in html
    assert table(result["rows"]).row_count == 2


@pytest.mark.parametrize("name", ["load", "capacity", "gpu", "scheduler", "voices"])
def test_the_command_takes_its_name(name: str) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert parser.parse_args([name]).measure == name


class ScriptedEngine(engine_pb2_grpc.EngineServicer):
    """Speaks one chunk, or refuses."""

    async def Models(self, request: Any, context: Any) -> pb.ModelsResponse:  # noqa: N802
        return pb.ModelsResponse(models=[pb.Model(id="tiny", presets=[pb.Preset(name="ryan")])])

    async def Synthesize(self, requests: Any, context: Any) -> Any:  # noqa: N802
        start = (await anext(requests)).start
        assert start.voice.preset == "ryan"
        if start.text == "full":
            yield pb.SynthesizeEvent(error=pb.Error(code="engine_full"))
            return
        yield pb.SynthesizeEvent(audio=pb.Audio(pcm=b"\0" * 480))
        yield pb.SynthesizeEvent(finished=pb.Finished(samples=240))


async def test_an_engine_is_asked_over_grpc() -> None:
    server = grpc.aio.server()
    engine_pb2_grpc.add_EngineServicer_to_server(ScriptedEngine(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    target = EngineTarget(f"127.0.0.1:{port}")
    take = await target.speak("Hello.", 1)
    assert (take.samples, take.failure) == (240, "")
    assert [received for _, received in take.arrivals] == [240]
    assert (await target.speak("full", 1)).failure == "engine_full"
    await server.stop(None)
    assert (await EngineTarget("127.0.0.1:1", "ryan").speak("x", 1)).failure.startswith("UNAVAIL")
