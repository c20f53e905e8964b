"""What a client has taken of an answer, and how long anybody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from django.conf import settings

from ttsapp.server.connection import SCOPE_KEY, Connection, of
from ttsapp.speech.delivery import MOST_MARKS, Delivery


class Wire:
    """Stands for a connection: `taken` and `is_gone` are set by the test."""

    def __init__(self) -> None:
        self.written = self.taken = 0
        self.is_gone = self.is_stalled = False
        self.aborted = asyncio.Event()

    def abort(self) -> None:
        self.is_gone = True
        self.aborted.set()


def handed(wire: Wire, *chunks: tuple[int, int]) -> Delivery:
    delivery = Delivery(wire)  # type: ignore[arg-type]
    for pcm_bytes, wire_bytes in chunks:
        wire.written += wire_bytes
        delivery.hand_over(pcm_bytes, wire_bytes)
    return delivery


def test_it_works() -> None:
    delivery = handed(Wire(), (3840, 3850), (7680, 7690))
    assert (delivery.handed, delivery.taken) == (11520, 11520)


def test_without_a_known_connection_all_counts_as_taken() -> None:
    delivery = Delivery(None)
    delivery.hand_over(3840, 480)
    assert delivery.taken == 3840


@pytest.mark.parametrize(
    ("taken", "expected"),
    [(0, 0), (99, 0), (100, 0), (150, 500), (200, 1000), (299, 1990), (300, 2000), (999, 2000)],
)
def test_of_a_connection_that_is_gone_only_what_arrived_counts(taken: int, expected: int) -> None:
    wire = Wire()
    wire.written = 100  # the head of the answer
    delivery = handed(wire, (1000, 100), (1000, 100))
    wire.is_gone, wire.taken = True, taken
    assert delivery.taken == expected


def test_a_long_answer_is_not_remembered_chunk_by_chunk() -> None:
    wire = Wire()
    delivery = handed(wire)
    for _ in range(10 * MOST_MARKS):
        wire.written += 10
        wire.taken = wire.written
        delivery.hand_over(100, 10)
    assert len(delivery._waiting) <= MOST_MARKS
    wire.is_gone = True
    assert delivery.taken == 10 * MOST_MARKS * 100


async def test_a_reader_that_takes_too_little_is_cut_off_in_the_end(monkeypatch) -> None:
    monkeypatch.setattr(settings, "MAX_STREAM_SECONDS", 0)
    wire = Wire()
    delivery = handed(wire, (1000, 100))
    with delivery:
        await wire.aborted.wait()
    assert delivery.is_stalled
    assert delivery.taken == 0


async def test_a_reader_that_waits_for_the_engine_is_left_alone(monkeypatch) -> None:
    monkeypatch.setattr(settings, "MAX_STREAM_SECONDS", 0)
    wire = Wire()
    delivery = handed(wire, (1000, 100))
    wire.taken = 100
    with delivery:
        await asyncio.sleep(0.01)
    assert not wire.aborted.is_set()
    assert not delivery.is_stalled


class Accepting(asyncio.Protocol):
    """The server's side of one real connection."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.made = asyncio.Event()
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.connection = Connection(transport, self.patience)  # type: ignore[arg-type]
        self.made.set()

    def connection_lost(self, error: Exception | None) -> None:
        self.connection.lost()
        self.lost.set()


@pytest.fixture
async def accepting(request: pytest.FixtureRequest) -> AsyncIterator[Accepting]:
    protocol = Accepting(getattr(request, "param", 30.0))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=1)
    protocol.reader, protocol.writer = reader, writer
    await protocol.made.wait()
    yield protocol
    writer.transport.abort()
    server.close()


async def test_what_the_other_side_has_acknowledged_is_taken(accepting: Accepting) -> None:
    accepting.connection.write(b"x" * 1000)
    await accepting.reader.readexactly(1000)
    accepting.writer.transport.abort()
    await accepting.lost.wait()
    assert (accepting.connection.taken, accepting.connection.is_gone) == (1000, True)


async def test_after_an_abort_nothing_more_arrives(accepting: Accepting) -> None:
    # given a client that reads late, and an answer of which the kernel holds a part
    accepting.writer.transport.pause_reading()
    accepting.connection.write(b"x" * 50_000_000)
    await asyncio.sleep(0.05)
    # when the server gives it up, and then the client reads
    accepting.connection.abort()
    await accepting.lost.wait()
    accepting.writer.transport.resume_reading()
    heard = 0
    with suppress(ConnectionError):
        while piece := await accepting.reader.read(65536):
            heard += len(piece)
    # then it gets what it had acknowledged at most
    assert heard <= accepting.connection.taken < 50_000_000


async def test_what_is_left_when_it_goes_was_not_taken(accepting: Accepting) -> None:
    accepting.writer.transport.pause_reading()
    accepting.connection.write(b"x" * 50_000_000)
    await asyncio.sleep(0)
    accepting.writer.transport.abort()
    await accepting.lost.wait()

    assert accepting.connection.is_gone
    assert 0 < accepting.connection.taken < 50_000_000
    assert not accepting.connection.is_stalled


@pytest.mark.parametrize("accepting", [0.05], indirect=True)
async def test_a_reader_that_takes_nothing_is_cut_off(accepting: Accepting) -> None:
    accepting.writer.transport.pause_reading()
    accepting.connection.write(b"x" * 50_000_000)
    await accepting.lost.wait()
    assert accepting.connection.is_stalled


@pytest.mark.parametrize("accepting", [0.05], indirect=True)
async def test_a_reader_with_nothing_to_take_stays(accepting: Accepting) -> None:
    accepting.connection.write(b"x")
    await accepting.reader.readexactly(1)
    await asyncio.sleep(0.2)
    assert not accepting.connection.is_stalled
    assert not accepting.lost.is_set()


def test_a_connection_travels_in_the_scope() -> None:
    assert of({"type": "http"}) is None
    assert of({"state": {SCOPE_KEY: object()}}) is None
