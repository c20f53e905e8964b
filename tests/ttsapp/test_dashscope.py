"""DashScope's dialect: the realtime socket."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import numpy as np
import pytest
import soundfile
from websockets.sync.client import ClientConnection, connect

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party
from tests.ttsapp.dashscope_socket import (
    CLOSING,
    OPENING,
    PLACE,
    append,
    audio,
    closed,
    commit,
    kinds,
    opened,
    received,
    send,
    until,
    update,
    url_of,
)
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.dialects.dashscope import sockets
from ttsapp.speech.models import RequestLog


@pytest.fixture
def url(base: str) -> str:
    return url_of(base)


@pytest.fixture
def socket(url: str, alice: Party) -> Iterator[ClientConnection]:
    with opened(url, alice) as client:
        yield client


def test_session_created_is_sent_unasked_with_the_model_of_the_query(
    url: str, alice: Party
) -> None:
    address = f"{url}?model=qwen-tts-realtime"
    with connect(address, additional_headers=alice.headers) as client:
        created = received(client)
    session = created["session"]
    assert created["event_id"].startswith("event_")
    assert session.pop("id").startswith("sess_")
    assert (created["type"], session) == (
        "session.created",
        {
            "object": "realtime.session",
            "mode": "server_commit",
            "model": "qwen-tts-realtime",
            "voice": "Cherry",
            "response_format": "pcm",
            "sample_rate": 24000,
        },
    )


def test_the_order_of_events_and_their_ids(socket: ClientConnection, alice: Party) -> None:
    update(socket, voice="Cherry", mode="commit")
    commit(socket, "Hello there.")
    send(socket, "session.finish")
    events = until(socket, "session.finished")
    begun, *response, _ = events
    assert kinds(events) == [
        "input_text_buffer.committed",
        *OPENING,
        "response.audio.delta",
        *CLOSING,
        "session.finished",
    ]
    assert closed(socket) == 1000
    assert audio(events) == spoken(5)
    made = response[0]["response"]
    named = {"response_id": made["id"], "item_id": begun["item_id"], **PLACE}
    for event in response:
        if event["type"] in ("response.audio.delta", "response.audio.done"):
            assert event | named == event
    assert (made["status"], made["output"], made["voice"]) == ("in_progress", [], "Anna")
    assert response[1]["item"]["role"] == "assistant"
    done = response[-1]["response"]
    assert (done["id"], done["status"], done["usage"]) == (
        made["id"],
        "completed",
        {"characters": 12},
    )
    assert len({event["event_id"] for event in events}) == len(events)
    usage = UsageEvent.objects.get()
    assert made["id"] == f"resp_{usage.id.hex}"
    assert (usage.tenant_id, usage.billed_characters) == (alice.tenant.id, 12)
    assert RequestLog.objects.get().transport == "ws"


def test_unknown_fields_are_ignored(socket: ClientConnection, engine: ScriptedEngine) -> None:
    answer = update(
        socket,
        voice="Ethan",
        volume=50,
        pitch_rate=1.2,
        optimize_instructions=True,
        something_new=None,
        language_type="German",
    )
    assert answer["type"] == "session.updated"
    assert (answer["session"]["voice"], answer["session"]["language_type"]) == ("Ethan", "German")
    commit(socket, "Guten Tag.")
    until(socket, "response.done")
    start = engine.heard[0].start
    assert (start.voice.preset, start.language) == ("Ben", "german")


def test_server_commit_speaks_whole_sentences(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    for piece in ("First sen", "tence. Sec", "ond sentence."):
        append(socket, piece)
    engine.wait_for_stream()
    send(socket, "session.finish")
    events = until(socket, "session.finished")
    assert kinds(events).count("response.done") == 1
    assert [heard.text.strip() for heard in engine.heard] == ["First sentence.", "Second sentence."]
    assert audio(events) == spoken(5) * 2
    assert UsageEvent.objects.get().billed_characters == 32


def test_server_commit_speaks_what_rests(
    monkeypatch: pytest.MonkeyPatch, url: str, alice: Party
) -> None:
    monkeypatch.setattr(sockets, "REST_SECONDS", 0.1)
    with connect(url, additional_headers=alice.headers) as client:
        received(client)
        append(client, "Hello there")
        assert audio(until(client, "response.done")) == spoken(5)


def test_server_commit_takes_a_commit(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=2)
    append(socket, "One. Two")
    events = until(socket, "response.audio.delta")
    send(socket, "input_text_buffer.commit")
    events += until(socket, "input_text_buffer.committed")
    engine.release.set()
    events += until(socket, "response.done")
    items = {event["item_id"] for event in events if "item_id" in event}
    assert len(items) == 1
    assert audio(events) == spoken(5) * 2


def test_commit_waits_for_its_commit(socket: ClientConnection, engine: ScriptedEngine) -> None:
    update(socket, mode="commit")
    append(socket, "One. Two. ")
    send(socket, "input_text_buffer.clear")
    assert received(socket)["type"] == "input_text_buffer.cleared"
    assert engine.heard == []
    commit(socket, "Three.")
    until(socket, "response.done")
    assert [heard.text for heard in engine.heard] == ["Three."]


def test_commits_are_spoken_one_after_the_other(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    update(socket, mode="commit")
    engine.script = Script(chunks=5, hold_after=2)
    for text in ("One.", "Two."):
        commit(socket, text)
    first = until(socket, "response.audio.delta")
    engine.release.set()
    first += until(socket, "response.done")
    second = until(socket, "response.done")
    assert len({event["response_id"] for event in first if "response_id" in event}) == 1
    assert kinds(second) == [*OPENING, "response.audio.delta", *CLOSING]
    assert audio(second) == spoken(5)
    assert UsageEvent.objects.count() == 2


def test_clear_of_a_started_sentence(socket: ClientConnection, engine: ScriptedEngine) -> None:
    append(socket, "One. Never mi")
    engine.wait_for_stream()
    send(socket, "input_text_buffer.clear")
    send(socket, "session.finish")
    until(socket, "session.finished")
    assert [heard.text.strip() for heard in engine.heard] == ["One."]


def test_cancel(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=1)
    append(socket, "A long story. Which nobody hears")
    until(socket, "response.audio.delta")
    send(socket, "response.cancel")
    events = until(socket, "response.done")
    assert kinds(events) == CLOSING
    assert events[-1]["response"]["status"] == "cancelled"
    assert engine.heard[0].ended.wait(10)
    engine.script = Script()
    commit(socket, "Next.")
    assert audio(until(socket, "response.done")) == spoken(5)
    assert [heard.text.strip() for heard in engine.heard] == ["A long story.", "Next."]


def test_cancel_of_nothing(socket: ClientConnection) -> None:
    send(socket, "response.cancel")
    send(socket, "session.finish")
    assert received(socket)["type"] == "session.finished"
    assert closed(socket) == 1000


@pytest.mark.parametrize(
    ("fields", "starts"),
    [
        ({"response_format": "wav"}, b"RIFF"),
        ({"response_format": "mp3", "bit_rate": 64}, b"\xff"),
        ({"response_format": "opus", "bit_rate": 510}, b"OggS"),
    ],
)
def test_formats(socket: ClientConnection, fields: dict, starts: bytes) -> None:
    assert update(socket, **fields)["session"]["response_format"] == fields["response_format"]
    commit(socket, "Hello there.")
    assert audio(until(socket, "response.done")).startswith(starts)


def test_sample_rate_and_speech_rate(socket: ClientConnection) -> None:
    update(socket, response_format="wav", sample_rate=8000, speech_rate=2, bit_rate=128)
    commit(socket, "Hello there.")
    heard, rate = soundfile.read(io.BytesIO(audio(until(socket, "response.done"))))
    assert rate == 8000
    assert abs(len(heard) - 1600) < 160


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"voice": "Nobody"}, "session.voice"),
        ({"voice": 5}, "session.voice"),
        ({"mode": "sometimes"}, "session.mode"),
        ({"response_format": "flac"}, "session.response_format"),
        ({"instructions": "x" * 5000}, "session.instructions"),
        ({"sample_rate": 12345}, "session.sample_rate"),
        ({"response_format": "mp3", "bit_rate": 7}, "session.bit_rate"),
        ({"speech_rate": 9}, "session.speech_rate"),
        ({"language_type": "Klingon"}, "session.language_type"),
    ],
)
def test_a_bad_session(socket: ClientConnection, fields: dict, param: str) -> None:
    answer = update(socket, **fields)
    assert (answer["type"], answer["error"]["param"]) == ("error", param)
    assert answer["error"]["type"] == "invalid_request_error"
    commit(socket, "Fine.")
    assert audio(until(socket, "response.done")) == spoken(5)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "invalid_json"),
        ('{"type": "response.sing"}', "invalid_value"),
        ('{"type": "input_text_buffer.append", "text": 5}', "invalid_type"),
        ('{"type": "input_text_buffer.append"}', "missing_field"),
        ('{"type": "input_text_buffer.commit"}', "empty_input"),
        ('{"type": "session.update", "session": []}', "invalid_type"),
        (
            json.dumps({"type": "input_text_buffer.append", "text": "x" * 5000}),
            "string_above_max_length",
        ),
    ],
)
def test_a_bad_message(socket: ClientConnection, message: str, code: str) -> None:
    socket.send(message)
    answer = received(socket)
    assert (answer["type"], answer["error"]["code"]) == ("error", code)
    commit(socket, "Fine.")
    assert audio(until(socket, "response.done")) == spoken(5)


def test_an_error_names_the_clients_event(socket: ClientConnection) -> None:
    send(socket, "response.sing")
    assert received(socket)["error"]["event_id"] == "event_mine"


def test_a_session_with_text_is_not_changed(socket: ClientConnection) -> None:
    update(socket, mode="commit")
    append(socket, "Hello.")
    answer = update(socket, voice="Ethan")
    assert (answer["error"]["code"], answer["error"]["param"]) == ("invalid_value", "session")


@pytest.mark.parametrize(("volume", "times"), [(0, 0.0), (25, 0.5), (100, 2.0)])
def test_volume(socket: ClientConnection, volume: int, times: float) -> None:
    """Half of a hundred leaves the speech as it is."""
    update(socket, voice="Ethan", mode="commit", volume=volume)
    commit(socket, "Hello there.")
    heard, usual = (
        np.frombuffer(pcm, "<i2").astype(float)
        for pcm in (audio(until(socket, "response.done")), spoken(5))
    )
    assert np.abs(heard - usual * times).max() <= 0.5


def test_a_volume_out_of_range(socket: ClientConnection) -> None:
    answer = update(socket, voice="Ethan", volume=101)
    assert (answer["type"], answer["error"]["param"]) == ("error", "session.volume")
