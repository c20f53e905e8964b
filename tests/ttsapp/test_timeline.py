"""When each chunk of an answer was handed over: told from the engine to the log row, in few
bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asgiref.sync import sync_to_async

from tests.ttsapp.contexts import heard as listened
from tests.ttsapp.scripted_engine import Script, ScriptedEngine
from ttsapp.speech.context import Context
from ttsapp.speech.models import RequestLog
from ttsapp.speech.order import Order
from ttsapp.speech.playback import Playback
from ttsapp.speech.timeline import (
    MOST_CHUNKS,
    MOST_LATE,
    Chunk,
    Chunks,
    Timeline,
    heard,
    unpack,
)


@sync_to_async
def logged() -> tuple[RequestLog, Timeline | None]:
    log = RequestLog.objects.get()
    return log, unpack(log.timeline)


async def test_it_works(order: Order, engine: ScriptedEngine) -> None:
    context = Context(order)
    context.say("Hello there.")
    await listened(context)

    log, timeline = await logged()
    assert timeline is not None
    assert [(each.at_ms, each.audio_ms) for each in timeline.chunks] == [
        (80 * place, 80) for place in range(5)
    ]
    came = [each.came_ms for each in timeline.chunks]
    assert came[0] == log.first_audio_ms
    assert [0, timeline.asked_ms, timeline.accepted_ms, *came, log.total_ms] == sorted(
        [0, timeline.asked_ms, timeline.accepted_ms, *came, log.total_ms]
    )
    assert (timeline.is_whole, timeline.left_out) == (False, 0)


async def test_faster_speech_is_played_in_less_time(order: Order, engine: ScriptedEngine) -> None:
    context = Context(replace(order, speed=2.0))
    context.say("Hello there.")
    await listened(context)

    _, timeline = await logged()
    assert timeline is not None
    assert [(each.at_ms, each.audio_ms) for each in timeline.chunks] == [
        (40 * place, 40) for place in range(5)
    ]


async def test_nobody_waits_for_an_answer_that_is_sent_whole(
    order: Order, engine: ScriptedEngine
) -> None:
    context = Context(replace(order, whole=True))
    context.say("Hello there.")
    await listened(context)

    _, timeline = await logged()
    assert timeline is not None
    assert timeline.is_whole
    assert [each.is_late for each in timeline.chunks] == [False] * 5


async def test_a_request_whose_engine_failed_tells_when_it_was_asked(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.next_scripts.append(Script(chunks=0))
    context = Context(order)
    context.say("Hello there.")
    await listened(context)

    log, timeline = await logged()
    assert timeline is not None
    assert (log.error_code, timeline.chunks) == ("no_audio", ())
    assert timeline.asked_ms is not None


def test_a_timeline_of_twenty_chunks_takes_few_bytes() -> None:
    chunks = tuple(Chunk(140 + 300 * place, 1280 * place, 1280) for place in range(20))
    timeline = Timeline(3, 9, False, chunks)
    packed = timeline.pack()
    assert unpack(packed) == timeline
    assert len(packed) == 225


def test_what_never_reached_the_engine_has_none() -> None:
    assert unpack(None) is None


def test_of_a_long_answer_the_first_chunks_are_kept_and_the_late_ones() -> None:
    chunks = Chunks()
    for place in range(MOST_CHUNKS + 10):
        chunks.note(Chunk(place, place, 1))
    chunks.note(Chunk(1000, 1000, 1, True))

    assert (len(chunks.kept), chunks.left_out) == (MOST_CHUNKS + 1, 10)
    assert chunks.kept[-1].is_late


def test_late_chunks_are_bounded_too() -> None:
    chunks = Chunks()
    for place in range(1000):
        chunks.note(Chunk(place, place, 1, True))
    assert len(chunks.kept) == MOST_CHUNKS + MOST_LATE
    assert chunks.left_out == 1000 - MOST_CHUNKS - MOST_LATE


def test_each_chunk_is_played_behind_the_one_before_it() -> None:
    chunks = [
        Chunk(100, 0, 80),
        Chunk(150, 80, 160),
        Chunk(500, 240, 80, True),
        Chunk(510, 320, 80),
    ]
    found = [(each.played_ms, each.waited_ms, each.lead_ms) for each in heard(chunks)]
    assert found == [(100, 0, 0), (180, 0, 30), (500, 160, 0), (580, 0, 70)]


def test_what_was_left_out_between_two_chunks_came_in_time() -> None:
    [_, last] = heard([Chunk(100, 0, 80), Chunk(300, 1000, 80)])
    assert (last.played_ms, last.lead_ms) == (1100, 800)


@pytest.mark.parametrize(
    ("asked_at", "text_at", "is_late"),
    [(0.0, 0.0, True), (2.0, 0.0, False), (0.0, 2.0, False)],
    ids=["ours", "its reader's", "its text's"],
)
def test_only_what_we_are_to_blame_for_is_late(
    asked_at: float, text_at: float, is_late: bool
) -> None:
    playback = Playback()
    assert not playback.hear(1.0, asked_at=0.0, came_at=0.0, text_at=0.0)
    told = playback.hear(1.0, asked_at=asked_at, came_at=3.0, text_at=text_at)
    assert (told, playback.underruns) == (is_late, int(is_late))
