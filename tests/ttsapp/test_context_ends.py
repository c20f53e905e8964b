"""Contexts that end before their time: what is charged, and that the engine is free."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from django.conf import settings

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.contexts import heard
from tests.ttsapp.scripted_engine import CHUNK_SAMPLES, ScriptedEngine
from tests.ttsapp.test_context import ledger, logged, until
from ttsapp import background
from ttsapp.speech.context import Context
from ttsapp.speech.events import Audio, Failed
from ttsapp.speech.order import Order


async def test_speech_that_lasts_too_long_is_ended_and_charged(
    order: Order, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "MAX_STREAM_SECONDS", 1)
    engine.script.hold_after = 2
    context = Context(order)
    context.say("x" * 100)
    failed = (await heard(context))[-1]
    assert isinstance(failed, Failed)
    assert (failed.error.status, failed.error.code) == (408, "stream_too_long")
    assert await ledger() == [("cancelled", 100, 100 * 160 // 6500, 160)]


@pytest.mark.parametrize(
    ("code", "field", "status", "public"),
    [
        ("text_timeout", "", 408, "text_timeout"),
        ("slow_client", "", 408, "slow_client"),
        ("invalid_request", "text", 400, "invalid_value"),
    ],
)
async def test_an_end_that_the_client_caused_is_charged_like_a_cancel(
    order: Order, engine: ScriptedEngine, code: str, field: str, status: int, public: str
) -> None:
    engine.script.error = pb.Error(code=code, message="no", field=field)
    engine.script.error_after = 2
    context = Context(order)
    context.say("x" * 100)
    failed = (await heard(context))[-1]
    assert isinstance(failed, Failed)
    assert (failed.error.status, failed.error.code) == (status, public)
    assert failed.error.field == (None if public == "slow_client" else "text")
    assert await ledger() == [("cancelled", 100, 100 * 160 // 6500, 160)]
    assert await logged() == [(status, "error", public)]


async def test_the_same_before_any_audio_is_free(order: Order, engine: ScriptedEngine) -> None:
    engine.script.error = pb.Error(code="invalid_request", message="no", field="text")
    context = Context(order)
    context.say("x" * 100)
    await heard(context)
    assert await ledger() == [("refused", 0, 0, 0)]


async def test_an_end_that_we_caused_is_free(order: Order, engine: ScriptedEngine) -> None:
    engine.script.error = pb.Error(code="internal", message="no")
    engine.script.error_after = 2
    context = Context(order)
    context.say("x" * 100)
    failed = (await heard(context))[-1]
    assert isinstance(failed, Failed)
    assert await ledger() == [("failed", 100, 0, 160)]


async def test_a_reader_whose_send_fails_frees_the_engine_at_once(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    context = Context(order)
    context.say("x" * 100)
    with pytest.raises(ConnectionResetError):
        async with aclosing(context.events()) as events:
            async for event in events:
                assert isinstance(event, Audio)
                if event.first_sample:
                    raise ConnectionResetError
    await until(lambda: engine.heard[0].ended.is_set())
    await background.drain(5)
    assert await ledger() == [("cancelled", 100, 100 * 80 // 6500, 80)]
    assert await logged() == [(499, "cancelled", "")]


async def test_what_never_arrived_is_not_charged(order: Order, engine: ScriptedEngine) -> None:
    engine.script.hold_after = 3
    context = Context(order)
    context.arrived = lambda: 100 * 48
    context.say("x" * 100)
    async with aclosing(context.events()) as events:
        async for event in events:
            assert isinstance(event, Audio)
            if event.first_sample == 2 * CHUNK_SAMPLES:
                break
    await background.drain(5)
    assert await ledger() == [("cancelled", 100, 100 * 100 // 6500, 100)]


async def test_a_server_that_stops_charges_nothing(order: Order, engine: ScriptedEngine) -> None:
    engine.script.hold_after = 2
    context = Context(order)
    context.say("x" * 100)
    reading = asyncio.create_task(heard(context))
    await until(lambda: engine.heard and engine.heard[0].reached.is_set())
    await until(lambda: context.tally.audio_ms == 160)
    context.close(is_our_stop=True)
    await reading
    assert await ledger() == [("failed", 100, 0, 160)]


async def test_a_fault_of_ours_leaves_no_reader_waiting(
    order: Order, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttsapp.speech.speaker.Audio", None)
    context = Context(order)
    context.say("Hello.")
    (failed,) = await heard(context)
    assert isinstance(failed, Failed)
    assert (failed.error.status, failed.error.code) == (500, "internal_error")
    assert await ledger() == [("failed", 6, 0, 0)]
