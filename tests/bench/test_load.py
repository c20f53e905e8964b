"""Arrivals, texts and percentiles: the same seed, the same load."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from gpu_engine.bench.client import Take, Target, speak
from gpu_engine.bench.load import long_texts, poisson
from gpu_engine.bench.machine import describe
from gpu_engine.bench.summary import lead, percentile, percentiles, real_time_factor, summarize
from gpu_engine.bench.texts import sentences

SPEECH = bytes(range(256)) * 375  # two seconds of samples


def test_it_works() -> None:
    assert poisson(1.0, 40.0, seed=1) == poisson(1.0, 40.0, seed=1)
    assert poisson(1.0, 40.0, seed=1) != poisson(1.0, 40.0, seed=2)
    assert sentences(5, seed=1) == sentences(5, seed=1)


def test_a_copy_without_a_history_says_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLANCE_COMMIT", "abc1234")
    assert describe()["commit"] == "abc1234"


def test_arrivals_have_the_rate_that_was_asked_for() -> None:
    times = poisson(10.0, 1000.0, seed=3)

    assert len(times) == pytest.approx(10_000, rel=0.03)
    assert times == sorted(times)
    assert times[-1] < 1000.0


def test_a_low_rate_still_sends_one() -> None:
    assert poisson(0.001, 1.0, seed=1) == [0.0]


def test_sentences_are_as_long_as_those_of_the_published_loads() -> None:
    lengths = [len(text.split()) for text in sentences(1000, seed=1)]

    assert min(lengths) >= 3
    assert max(lengths) <= 20
    assert sum(lengths) / 1000 == pytest.approx(10.5, abs=1.5)


def test_long_texts_are_long_and_different() -> None:
    texts = long_texts(4, seed=1)
    assert min(map(len, texts)) >= 150
    assert len(set(texts)) == 4


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(value) for value in range(1, 101)]
    assert percentiles(values) == {"p50": 50.0, "p95": 95.0, "p99": 99.0}
    assert percentile([7.0], 99) == 7.0
    assert percentiles([]) == {}


def test_a_take_is_summed_up() -> None:
    take = Take("Hello.", [(0.1, 24_000), (1.5, 48_000)], bytearray(SPEECH), total=1.5)

    row = summarize([take, Take("Gone.", failure="HTTP 503")], window=2.0)

    assert (row["requests"], row["failed"], row["failures"]) == (2, 1, ["HTTP 503"])
    assert (row["underruns"], row["worst_gap_ms"]) == (1, 400.0)
    assert row["first_byte_ms"]["p50"] == 100.0
    assert (row["characters_per_s"], row["audio_s_per_s"]) == (3.0, 1.0)
    assert real_time_factor(take) == 0.75
    expected = [(0.1, 0.0), (0.1, 1.0), (1.5, pytest.approx(-0.4)), (1.5, pytest.approx(0.6))]
    assert lead(take) == expected


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]


async def ask(answer: bytes) -> Take:
    """What the client makes of a server that says this."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        return await speak(Target(f"http://127.0.0.1:{port}", "key"), "Hello.", seed=1)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def test_chunks_are_samples() -> None:
    take = await ask(CHUNKED + b"4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n")

    assert (bytes(take.pcm), take.failure) == (b"abcdef", "")
    assert [received for _, received in take.arrivals] == [2, 3]


async def test_a_refusal_is_a_failure() -> None:
    take = await ask(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
    assert take.failure == "HTTP 503"


async def test_a_broken_stream_is_a_failure() -> None:
    take = await ask(CHUNKED + b"4\r\nabcd\r\n")
    assert take.failure.startswith("IncompleteReadError")
