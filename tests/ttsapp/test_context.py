"""One context session: several engine streams on one clock, one request in the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings

from billing.models import Reservation, UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.contexts import audio, heard, texts
from tests.ttsapp.scripted_engine import CHUNK_SAMPLES, Script, ScriptedEngine, spoken
from ttsapp.errors import ApiError
from ttsapp.speech import context as module
from ttsapp.speech.clocks import Deadlines
from ttsapp.speech.context import Context
from ttsapp.speech.events import Audio, Done, Event, Failed, Flushed
from ttsapp.speech.feed import TextMode
from ttsapp.speech.models import RequestLog
from ttsapp.speech.order import Order

# As long as a part may be; by the yardstick of the charge rules it takes 9.75 s.
SENTENCE = "x" * 148 + ". "


@sync_to_async
def ledger() -> list[tuple[str, int, int, int]]:
    assert not Reservation.objects.exists()
    fields = ("outcome", "characters", "billed_characters", "audio_ms")
    return list(UsageEvent.objects.values_list(*fields))


@sync_to_async
def logged() -> list[tuple[int, str, str]]:
    return list(RequestLog.objects.values_list("status", "finish_reason", "error_code"))


async def until(check: Callable[[], object]) -> None:
    for _ in range(500):
        if check():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came")


async def test_it_works(order: Order, engine: ScriptedEngine) -> None:
    context = Context(order)
    context.append("Hello there. How are")
    context.append(" you?")
    context.finish()
    events = await heard(context)

    assert texts(engine) == ["Hello there. ", "How are you?"]
    assert audio(events) == spoken(5) + spoken(5)
    starts = [event.first_sample for event in events if isinstance(event, Audio)]
    assert starts == [place * CHUNK_SAMPLES for place in range(10)]
    done = events[-1]
    assert isinstance(done, Done)
    assert (done.reason, done.report.characters, done.report.audio_ms) == ("stop", 25, 800)
    assert (done.report.spoken_characters, done.report.billed_characters) == (25, 25)
    assert (done.report.frames, done.report.text_tokens) == (10, 14)
    assert await ledger() == [("completed", 25, 25, 800)]
    assert await logged() == [(200, "stop", "")]


async def test_a_long_text_is_spoken_in_parts_that_lose_nothing(
    order: Order, engine: ScriptedEngine
) -> None:
    text = "The quick brown fox jumps over the lazy dog, and then it rests. " * 6
    context = Context(order)
    context.say(text)
    events = await heard(context)

    assert "".join(texts(engine)) == text
    assert all(len(part) <= settings.SEGMENT_CHARACTERS for part in texts(engine))
    assert len(texts(engine)) == 3
    assert audio(events) == spoken(5) * 3
    assert await ledger() == [("completed", len(text), len(text), 1200)]


async def test_a_part_that_ran_away_is_told(order: Order, engine: ScriptedEngine) -> None:
    engine.next_scripts.extend([Script(reason=pb.FINISH_REASON_LENGTH), Script()])
    context = Context(order)
    context.say("One. " * 40)
    done = (await heard(context))[-1]
    assert isinstance(done, Done)
    assert done.reason == "length"


async def test_the_next_stream_opens_before_the_first_has_ended_and_no_third_one(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.next_scripts.append(Script(chunks=110, hold_after=97))
    context = Context(order)
    context.append(SENTENCE * 3 + "And so on")
    reading = asyncio.create_task(heard(context))
    await until(lambda: engine.heard and engine.heard[0].reached.is_set())
    await until(lambda: len(engine.heard) == 2)
    assert not engine.heard[0].ended.is_set()
    await asyncio.sleep(0.1)
    assert len(engine.heard) == 2
    engine.release.set()
    context.finish()

    assert audio(await reading) == spoken(110) + spoken(5) * 3
    assert texts(engine) == [SENTENCE] * 3 + ["And so on"]


async def test_the_next_stream_does_not_open_long_before_it_is_needed(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.next_scripts.append(Script(chunks=110, hold_after=90))
    context = Context(order)
    context.append(SENTENCE * 2 + "And")
    reading = asyncio.create_task(heard(context))
    await until(lambda: engine.heard and engine.heard[0].reached.is_set())
    await asyncio.sleep(0.1)
    assert len(engine.heard) == 1
    context.close()
    await reading


async def test_a_full_engine_is_a_pause_for_speech_that_has_begun(
    order: Order, engine: ScriptedEngine
) -> None:
    full = pb.Error(code="engine_full", message="full", retryable=True, retry_after_ms=20)
    engine.next_scripts.extend([Script(), Script(error=full), Script(error=full), Script()])
    context = Context(order)
    context.append("First one. Second one.")
    context.finish()
    events = await heard(context)

    assert audio(events) == spoken(5) + spoken(5)
    assert texts(engine) == ["First one. "] + ["Second one."] * 3
    assert await ledger() == [("completed", 22, 22, 800)]


async def test_a_full_engine_refuses_speech_that_has_not_begun(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.script.error = pb.Error(
        code="engine_full", message="full", retryable=True, retry_after_ms=20
    )
    context = Context(order)
    context.say("Hello.")
    (failed,) = await heard(context)
    assert isinstance(failed, Failed)
    assert (failed.error.status, failed.error.code) == (503, "engine_full")
    assert await ledger() == [("failed", 6, 0, 0)]


async def test_flushed_comes_behind_the_audio_of_the_text_before_it(
    order: Order, engine: ScriptedEngine
) -> None:
    context = Context(order)
    context.append("Hello")
    context.flush("1")
    context.flush("2")
    context.append("World")
    context.flush()
    context.finish()
    events = await heard(context)

    assert texts(engine) == ["Hello", "World"]
    kinds = [type(event).__name__ for event in events]
    assert kinds == ["Audio"] * 5 + ["Flushed"] * 2 + ["Audio"] * 5 + ["Done"]
    assert [event.id for event in events if isinstance(event, Flushed)] == ["1", "2"]


async def test_a_flush_without_text_is_answered(order: Order, engine: ScriptedEngine) -> None:
    context = Context(order)
    context.flush("1")
    context.append("Hello.")
    context.finish()
    events = await heard(context)
    assert events[0] == Flushed("1")
    assert audio(events) == spoken(5)


async def test_barge_in_says_how_much_was_spoken(order: Order, engine: ScriptedEngine) -> None:
    engine.next_scripts.extend([Script(chunks=10), Script(chunks=40, hold_after=20)])
    context = Context(order)
    context.append("Hello there. " + SENTENCE + "Never said")
    events: list[Event] = []
    async with aclosing(context.events()) as stream:
        async for event in stream:
            events.append(event)
            if sum(isinstance(one, Audio) for one in events) == 30:
                context.cancel()

    assert audio(events) == spoken(10) + spoken(20)
    done = events[-1]
    assert isinstance(done, Done)
    # All of the first, and 20 x 80 ms of the second, whose 150 letters should take 9,750 ms.
    share = 13 + 150 * 1600 // 9750
    assert (done.reason, done.report.spoken_characters) == ("cancelled", share)
    assert [stream.outcome for stream in engine.heard] == ["finished", "cancelled"]
    assert await ledger() == [("cancelled", 173, share, 2400)]
    assert await logged() == [(200, "cancelled", "")]


@pytest.mark.parametrize(
    ("played_ms", "speed", "spoken_characters"),
    [
        (0, 1.0, 0),
        (400, 1.0, 13 * 400 // 800),
        (800, 1.0, 13),
        # 800 ms into the second, whose 150 letters should take 9,750 ms.
        (1600, 1.0, 13 + 150 * 800 // 9750),
        (800, 2.0, 13 + 150 * 800 // 9750),
        # Nobody has heard more than was delivered.
        (60_000, 1.0, 13 + 150 * 1600 // 9750),
    ],
)
async def test_barge_in_by_the_listeners_clock(
    order: Order, engine: ScriptedEngine, played_ms: int, speed: float, spoken_characters: int
) -> None:
    engine.next_scripts.extend([Script(chunks=10), Script(chunks=40, hold_after=20)])
    context = Context(replace(order, speed=speed))
    context.append("Hello there. " + SENTENCE + "Never said")
    events: list[Event] = []
    async with aclosing(context.events()) as stream:
        async for event in stream:
            events.append(event)
            if sum(isinstance(one, Audio) for one in events) == 30:
                context.cancel(played_ms)

    done = events[-1]
    assert isinstance(done, Done)
    assert done.report.spoken_characters == spoken_characters
    # The charge is by what was delivered.
    share = 13 + 150 * 1600 // 9750
    assert (done.report.billed_characters, done.report.audio_ms) == (share, 2400 / speed)


async def test_barge_in_ends_the_stream_that_was_opened_ahead(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.next_scripts.extend([Script(chunks=110, hold_after=97), Script(hold_after=1)])
    context = Context(order)
    context.append(SENTENCE * 2 + "And")
    reading = asyncio.create_task(heard(context))
    await until(lambda: len(engine.heard) == 2 and engine.heard[0].reached.is_set())
    context.cancel()
    await reading
    assert [stream.outcome for stream in engine.heard] == ["cancelled", "cancelled"]


async def test_cancel_before_any_text_costs_and_logs_nothing(
    order: Order, engine: ScriptedEngine
) -> None:
    context = Context(order)
    context.cancel()
    (done,) = await heard(context)
    assert isinstance(done, Done)
    assert done.reason == "cancelled"
    assert (engine.heard, await ledger(), await logged()) == ([], [], [])


async def test_nothing_to_say(order: Order, engine: ScriptedEngine) -> None:
    context = Context(order)
    context.append(" 🙂 ")
    context.finish()
    (failed,) = await heard(context)
    assert isinstance(failed, Failed)
    assert (failed.error.status, failed.error.code) == (400, "empty_input")
    assert failed.error.field == "text"
    assert (engine.heard, await ledger()) == ([], [])
    assert await logged() == [(400, "", "empty_input")]


async def test_text_after_the_end_is_refused_and_changes_nothing(
    order: Order, engine: ScriptedEngine
) -> None:
    context = Context(order)
    context.append("Hello.")
    context.finish()
    with pytest.raises(ApiError) as refusal:
        context.append("More.")
    assert (refusal.value.status, refusal.value.code) == (400, "out_of_order")
    assert audio(await heard(context)) == spoken(5)


async def test_too_much_text_is_refused_and_changes_nothing(
    order: Order, engine: ScriptedEngine
) -> None:
    context = Context(order)
    context.append("Hello.")
    with pytest.raises(ApiError) as refusal:
        context.append("x" * settings.MAX_INPUT_CHARACTERS)
    assert (refusal.value.code, refusal.value.field) == ("string_above_max_length", "text")
    context.finish()
    done = (await heard(context))[-1]
    assert done.report.characters == 6


async def test_a_context_without_text_ends(order: Order, engine: ScriptedEngine) -> None:
    context = Context(order, deadlines=Deadlines(first_text=0.05, idle=9))
    context.append("")
    (failed,) = await heard(context)
    assert isinstance(failed, Failed)
    assert (failed.error.status, failed.error.code) == (408, "text_timeout")
    assert failed.error.field == "text"


async def test_empty_texts_restart_no_clock(order: Order, engine: ScriptedEngine) -> None:
    context = Context(order, deadlines=Deadlines(first_text=9, idle=0.2))
    context.append("Hello there. And")
    reading = asyncio.create_task(heard(context))
    while context.is_text_open:
        context.append("")
        await asyncio.sleep(0.02)
    failed = (await reading)[-1]
    assert isinstance(failed, Failed)
    assert failed.error.code == "text_timeout"
    # What was heard is charged, as if it had been cancelled.
    assert await ledger() == [("cancelled", 16, 13, 400)]
    assert await logged() == [(408, "error", "text_timeout")]


async def test_the_clock_waits_for_what_is_still_to_be_heard(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    context = Context(order, deadlines=Deadlines(first_text=9, idle=0.1))
    context.append("Hello there. And")
    reading = asyncio.create_task(heard(context))
    await until(lambda: context.tally.audio_ms == 160)
    await asyncio.sleep(0.3)
    assert not context.is_over
    engine.release.set()
    events = await reading
    assert audio(events) == spoken(5)
    assert isinstance(events[-1], Failed)
    assert events[-1].error.code == "text_timeout"


async def test_flushes_without_end_are_refused(order: Order, engine: ScriptedEngine) -> None:
    context = Context(order)
    for number in range(module.MOST_WAITING):
        context.flush(str(number))
    with pytest.raises(ApiError) as refusal:
        context.flush("more")
    assert (refusal.value.status, refusal.value.code) == (400, "too_many_flushes")
    context.cancel()
    await heard(context)


async def test_keep_alive_restarts_the_clock(order: Order, engine: ScriptedEngine) -> None:
    context = Context(order, deadlines=Deadlines(first_text=0.2, idle=0.2))
    reading = asyncio.create_task(heard(context))
    for _ in range(6):
        context.keep_alive()
        await asyncio.sleep(0.1)
    assert not context.is_over
    context.append("Hello.")
    context.finish()
    assert audio(await reading) == spoken(5)


async def test_text_that_is_held_too_long_is_spoken_as_it_is(
    order: Order, engine: ScriptedEngine
) -> None:
    context = Context(order, max_hold=0.05)
    context.append("Hello")
    reading = asyncio.create_task(heard(context))
    await until(lambda: texts(engine) == ["Hello"])
    context.append(" there.")
    context.finish()
    assert audio(await reading) == spoken(5) + spoken(5)


async def test_a_token_stream_that_rests_gives_up_its_slot(
    order: Order, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.05)
    context = Context(order, mode=TextMode.TOKEN)
    context.append("Hello ")
    reading = asyncio.create_task(heard(context))
    await until(lambda: engine.heard and engine.heard[0].ended.is_set())
    assert engine.heard[0].outcome == "finished"
    assert context.is_text_open
    context.append("there.")
    context.finish()

    assert audio(await reading) == spoken(5) + spoken(5)
    assert texts(engine) == ["Hello ", "there."]
    assert await ledger() == [("completed", 12, 12, 800)]
