"""/v1/audio/speech/ws: text in while audio goes out, any number of utterances in a row."""

from __future__ import annotations

import pytest
from websockets.sync.client import ClientConnection

from billing.models import Reservation, UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party
from tests.ttsapp.live_socket.client import hear, refused, send, start, still_works
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken


def test_it_works(socket: ClientConnection, alice: Party, engine: ScriptedEngine) -> None:
    accepted = start(socket, voice="Ben", language="en", instructions="calm", seed=5)
    send(socket, type="text", text="Hello ")
    send(socket, type="text", text="there.")
    send(socket, type="end")
    audio, finished = hear(socket)

    assert audio == spoken(5)
    assert (accepted["voice"], accepted["sample_rate"], accepted["seed"]) == ("Ben", 24_000, 5)
    assert (finished["type"], finished["finish_reason"]) == ("finished", "stop")
    assert (finished["characters"], finished["audio_ms"]) == (12, 400)
    assert finished["id"] == accepted["id"]
    assert engine.heard[0].text == "Hello there."
    assert engine.heard[0].start.language == "english"
    event = UsageEvent.objects.get(pk=accepted["id"])
    assert (event.tenant, event.key, event.billed_characters) == (alice.tenant, alice.key, 12)
    assert not Reservation.objects.exists()


def test_a_sentence_is_spoken_before_the_text_has_ended(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket)
    send(socket, type="text", text="Hello there. How ")
    first = b"".join(socket.recv(10) for _ in range(5))
    assert first == spoken(5)
    assert [heard.start.text for heard in engine.heard] == ["Hello there. "]
    assert engine.heard[0].ended.wait(10), "no engine slot is held while text is awaited"
    send(socket, type="text", text="are you?")
    send(socket, type="end")
    audio, finished = hear(socket)

    assert audio == spoken(5)
    assert (finished["characters"], finished["audio_ms"]) == (25, 800)
    assert [heard.start.text for heard in engine.heard] == ["Hello there. ", "How are you?"]
    assert all(heard.start.complete for heard in engine.heard)
    event = UsageEvent.objects.get()
    assert (event.billed_characters, event.audio_ms, event.frames) == (25, 800, 10)


def test_in_token_mode_text_is_spoken_as_it_comes(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket, mode="token")
    send(socket, type="text", text="Hello ")
    assert isinstance(socket.recv(10), bytes)
    send(socket, type="text", text="there.")
    send(socket, type="end")

    assert hear(socket)[1]["characters"] == 12
    heard = engine.heard[0]
    assert (heard.start.text, heard.appended) == ("Hello ", ["there."])
    assert (heard.start.layout, heard.start.complete) == (pb.TEXT_LAYOUT_STREAMING, False)


def test_several_utterances_on_one_socket(socket: ClientConnection) -> None:
    assert [still_works(socket) for _ in range(3)] == [True] * 3
    assert UsageEvent.objects.count() == 3


def test_the_engine_is_called_once_there_is_something_to_say(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket)
    for text in (" ", "…", "Now"):
        send(socket, type="text", text=text)
    send(socket, type="end")
    hear(socket)

    assert [heard.start.text for heard in engine.heard] == [" …Now"]


@pytest.mark.parametrize("name", ["wav", "mp3", "opus", "webm", "flac"])
def test_other_formats(socket: ClientConnection, name: str) -> None:
    start(socket, response_format=name)
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    audio, _ = hear(socket)

    starts = {"wav": b"RI", "mp3": b"\xff\xf3", "opus": b"Og", "webm": b"\x1aE", "flac": b"fL"}
    assert audio[:2] == starts[name]


def test_cancel_stops_at_once_and_bills_what_was_heard(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script.chunks = 50
    engine.script.hold_after = 25
    accepted = start(socket)
    send(socket, type="text", text="x" * 100)
    send(socket, type="end")
    for _ in range(25):
        socket.recv(10)

    send(socket, type="cancel")
    audio, finished = hear(socket)

    assert audio == b""
    assert (finished["finish_reason"], finished["audio_ms"]) == ("cancelled", 2000)
    assert engine.heard[0].outcome == "cancelled"
    event = UsageEvent.objects.get(pk=accepted["id"])
    assert (event.outcome, event.billed_characters) == ("cancelled", 100 * 2000 // 6500)
    # The engine was asked, so it could say what it had spent.
    assert event.talker_ms == 1.5
    engine.script = Script()
    assert still_works(socket)


def test_barge_in_tells_what_the_listener_has_played(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script = Script(chunks=50, hold_after=25)
    start(socket)
    send(socket, type="text", text="x" * 100)
    send(socket, type="end")
    for _ in range(25):
        socket.recv(10)

    send(socket, type="cancel", played_ms=650)
    _, finished = hear(socket)

    assert (finished["finish_reason"], finished["audio_ms"]) == ("cancelled", 2000)
    assert finished["spoken_characters"] == 100 * 650 // 6500
    assert finished["billed_characters"] == 100 * 2000 // 6500


@pytest.mark.parametrize(
    ("played", "code"),
    [
        (-1, "invalid_value"),
        (86_400_001, "invalid_value"),
        (1.5, "invalid_type"),
        ("1", "invalid_type"),
    ],
)
def test_a_time_played_that_is_none_cancels_nothing(
    socket: ClientConnection, played: object, code: str
) -> None:
    start(socket)
    send(socket, type="cancel", played_ms=played)
    refused(socket, code, "played_ms")
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    audio, finished = hear(socket)
    assert (audio, finished["finish_reason"]) == (spoken(5), "stop")


def test_cancel_before_any_text(socket: ClientConnection, engine: ScriptedEngine) -> None:
    start(socket)
    send(socket, type="cancel")

    assert hear(socket)[1]["finish_reason"] == "cancelled"
    assert engine.heard == []
    assert still_works(socket)


def test_flush_speaks_what_is_held_back(socket: ClientConnection, engine: ScriptedEngine) -> None:
    accepted = start(socket)
    send(socket, type="text", text="Hello")
    send(socket, type="flush", flush_id="a")
    audio, flushed = hear(socket)

    assert audio == spoken(5)
    assert flushed == {"type": "flushed", "id": accepted["id"], "flush_id": "a"}
    send(socket, type="end")
    assert hear(socket)[1]["finish_reason"] == "stop"
    assert [heard.text for heard in engine.heard] == ["Hello"]


def test_sentences_are_prepared_like_any_text(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket, language="en", apply_text_normalization="on")
    for text in ("It is $", "5 \u200b— “or” 6", "%. ", "Ok."):
        send(socket, type="text", text=text)
    send(socket, type="end")
    _, finished = hear(socket)

    assert [heard.start.text for heard in engine.heard] == [
        'It is five dollars — "or" six percent. ',
        "Ok.",
    ]
    # What was sent is what is charged.
    assert finished["characters"] == finished["billed_characters"] == 24


def test_pauses_in_sentences(socket: ClientConnection, engine: ScriptedEngine) -> None:
    start(socket, enable_ssml_parsing="pauses")
    send(socket, type="text", text="Wait. [pause 1s] Go.")
    send(socket, type="end")
    audio, finished = hear(socket)
    assert audio == spoken(5) + bytes(48_000) + spoken(5)
    assert (finished["characters"], finished["audio_ms"]) == (10, 1800)


def test_silence_before_the_first_word(socket: ClientConnection, engine: ScriptedEngine) -> None:
    start(socket, lead_silence_ms=200, trim_silence=False)
    send(socket, type="text", text="Hello there. And more.")
    send(socket, type="end")
    audio, _ = hear(socket)
    assert audio[: 200 * 48] == bytes(200 * 48)
    assert audio[200 * 48 :] == spoken(5) * len(engine.heard)
    assert all(stream.start.keep_silence for stream in engine.heard)
