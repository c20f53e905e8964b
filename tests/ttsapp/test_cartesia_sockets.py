"""Cartesia's socket: contexts, their text, their ends."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from billing.models import UsageEvent
from tests.ttsapp.cartesia_socket import Socket, opened
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog

FLOATS = {"container": "raw", "encoding": "pcm_f32le", "sample_rate": 44100}


@pytest.fixture
def url(base: str) -> str:
    return base.replace("http:", "ws:") + "/tts/websocket"


@pytest.fixture
def socket(url: str, alice: Party) -> Iterator[Socket]:
    with opened(url, alice.headers) as client:
        yield client


def test_it_works(socket: Socket, alice: Party, engine: ScriptedEngine) -> None:
    socket.say("Hello there.")
    *chunks, done = socket.until("done")
    assert b"".join(base64.b64decode(one["data"]) for one in chunks) == spoken(5)
    fields = {"type", "data", "step_time", "status_code", "done", "context_id", "flush_id"}
    assert all(set(one) == fields for one in chunks)
    assert {one["status_code"] for one in chunks} == {206}
    assert done == {"type": "done", "status_code": 200, "done": True, "context_id": "a"}
    assert engine.heard[0].start.text == "Hello there."
    event = UsageEvent.objects.get()
    assert (event.tenant_id, event.billed_characters) == (alice.tenant.id, 12)
    assert RequestLog.objects.get(id=event.id).transport == "ws"


@pytest.mark.parametrize(("encoding", "type_"), [("pcm_s16le", "<i2"), ("pcm_f32le", "<f4")])
def test_raw_s16le_and_f32le(socket: Socket, encoding: str, type_: str) -> None:
    """400 ms at the rate that the SDK asks for."""
    socket.say("Hello there.", output_format={**FLOATS, "encoding": encoding})
    samples = np.frombuffer(socket.audio(), type_)
    assert len(samples) == 44100 * 2 // 5
    scale = 32768 if type_ == "<f4" else 1
    assert 8000 < np.abs(samples * scale).max() < 10000


def test_continuation_keeps_one_clock(socket: Socket, engine: ScriptedEngine) -> None:
    engine.script = Script(tells_words=True)
    for text in ("Hello ", "there. ", "How are"):
        socket.say(text, **{"continue": True, "add_timestamps": True})
    socket.say(" you?", add_timestamps=True)
    told = socket.until("done")
    assert b"".join(base64.b64decode(one["data"]) for one in told if "data" in one) == spoken(5) * 2
    assert [heard.text for heard in engine.heard] == ["Hello there. ", "How are you?"]
    first, second = [one for one in told if one["type"] == "timestamps"]
    assert first["word_timestamps"] == {
        "words": ["Hello", "there."],
        "start": [0.0, 0.2],
        "end": [0.2, 0.4],
    }
    assert second["word_timestamps"] == {
        "words": ["How", "are", "you?"],
        "start": [0.4, 0.533, 0.667],
        "end": [0.533, 0.667, 0.8],
    }
    assert (first["context_id"], first["flush_id"]) == ("a", 1)
    assert UsageEvent.objects.get().characters == 25


@pytest.mark.parametrize("last", ["", " "])
@pytest.mark.parametrize("delay", [0, 3000])
def test_empty_or_one_space_final_transcript(socket: Socket, last: str, delay: int) -> None:
    """The one blank is no text, and is not charged."""
    socket.say("Hello there", **{"continue": True, "max_buffer_delay_ms": delay})
    socket.say(last, max_buffer_delay_ms=delay)
    assert socket.audio() == spoken(5)
    assert UsageEvent.objects.get().characters == 11


@pytest.mark.parametrize("last", ["", " "])
def test_an_end_of_nothing(socket: Socket, engine: ScriptedEngine, last: str) -> None:
    socket.say(last)
    socket.say(" ", **{"context_id": "b", "continue": True})
    socket.say(last, context_id="b")
    assert [one["context_id"] for one in (socket.next(), socket.next())] == ["a", "b"]
    assert engine.heard == []


def test_an_end_that_comes_twice(socket: Socket, engine: ScriptedEngine) -> None:
    engine.script = Script(hold_after=1)
    socket.say("Hello there.")
    engine.wait_for_stream().reached.wait(10)
    socket.say("", model_id="sonic-latest", voice="Ben", output_format=FLOATS)
    engine.release.set()
    assert socket.audio() == spoken(5)
    assert UsageEvent.objects.count() == 1


def test_flush_gives_flush_done(socket: Socket, engine: ScriptedEngine) -> None:
    for text in ("No full stop", "nor here"):
        socket.say(text, **{"continue": True, "flush": True})
    socket.say("")
    told = socket.until("done")
    marks = [(one["type"], one.get("flush_id")) for one in told]
    assert marks == [
        *[("chunk", 1)] * 5,
        ("flush_done", 1),
        *[("chunk", 2)] * 5,
        ("flush_done", 2),
        ("done", None),
    ]
    assert told[5] == {
        "type": "flush_done",
        "flush_done": True,
        "flush_id": 1,
        "status_code": 206,
        "done": False,
        "context_id": "a",
    }
    assert [heard.start.text for heard in engine.heard] == ["No full stop", "nor here"]


def test_no_buffering_speaks_what_comes(socket: Socket, engine: ScriptedEngine) -> None:
    socket.say("Half a", **{"continue": True, "max_buffer_delay_ms": 0})
    assert socket.next()["type"] == "chunk"
    socket.say(" sentence", max_buffer_delay_ms=0)
    socket.until("done")
    assert [heard.start.text.strip() for heard in engine.heard] == ["Half a", "sentence"]


def test_buffering_ends(socket: Socket) -> None:
    """What is no sentence yet is spoken when nothing follows for so long."""
    socket.say("Half a", **{"continue": True, "max_buffer_delay_ms": 50})
    assert socket.next()["type"] == "chunk"


def test_cancel_stops_audio_and_sends_nothing_more(socket: Socket, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=1)
    socket.say("A long story.")
    assert socket.next()["type"] == "chunk"
    socket.send({"context_id": "a", "cancel": True})
    assert engine.heard[0].ended.wait(10)
    engine.script = Script()
    socket.say("Next.", context_id="b")
    assert {one["context_id"] for one in socket.until("done")} == {"b"}
    eventually(lambda: UsageEvent.objects.filter(outcome="cancelled").count() == 1)


def test_the_name_of_a_cancelled_context_is_free(socket: Socket, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=1)
    socket.say("A long story.")
    assert socket.next()["type"] == "chunk"
    engine.next_scripts.append(Script())
    socket.send({"context_id": "a", "cancel": True})
    socket.say("Again.")
    assert socket.audio() == spoken(5)


@pytest.mark.parametrize("name", ["a", "never was"])
def test_cancel_of_what_is_over(socket: Socket, name: str) -> None:
    socket.say("Hello.")
    assert socket.audio() == spoken(5)
    socket.send({"context_id": name, "cancel": True})
    socket.say("Again.")
    assert socket.audio() == spoken(5)


def test_contexts_speak_at_once(socket: Socket, engine: ScriptedEngine) -> None:
    engine.next_scripts.extend([Script(hold_after=1), Script()])
    socket.say("One.", context_id="a")
    assert socket.next()["context_id"] == "a"
    socket.say("Three.", context_id="b")
    assert [socket.next()["context_id"] for _ in range(6)] == ["b"] * 6
    engine.release.set()
    assert {one["context_id"] for one in socket.until("done")} == {"a"}
    billed: list[Any] = sorted(UsageEvent.objects.values_list("billed_characters", flat=True))
    assert billed == [4, 6]


def test_a_context_without_a_name_is_given_one(socket: Socket) -> None:
    socket.say("Hello.", context_id=None)
    names = {one["context_id"] for one in socket.until("done")}
    assert len(names) == 1
    assert len(names.pop()) == 36


def test_a_break_is_a_pause(socket: Socket, engine: ScriptedEngine) -> None:
    socket.say('Wait. <break time="1s"/> Go.')
    assert socket.audio() == spoken(5) + bytes(48_000) + spoken(5)
    assert [stream.text.strip() for stream in engine.heard] == ["Wait.", "Go."]


def test_silence_has_a_bound(socket: Socket) -> None:
    """Of a context, however many messages ask for it: silence costs its sender nothing."""
    for _ in range(7):
        socket.say('Wait. <break time="10s"/> ', **{"continue": True, "flush": True})
    told = socket.next()
    while told["type"] != "error":
        told = socket.next()
    assert (told["status_code"], told["error_code"]) == (400, "invalid_markup")


def test_volume(socket: Socket) -> None:
    """Half as loud, sample by sample."""
    socket.say("Hello there.", generation_config={"volume": 0.5})
    heard, usual = (np.frombuffer(pcm, "<i2") for pcm in (socket.audio(), spoken(5)))
    assert np.abs(heard - usual / 2).max() <= 0.5
