"""What ElevenLabs' multi-stream-input refuses, and what that ends."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.elevenlabs_socket import FORMAT, closed, failed, hear, opened, received, send
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog

RACHEL = "21m00Tcm4TlvDq8ikWAM"


@pytest.fixture
def voice(base: str) -> str:
    return base.replace("http:", "ws:") + f"/v1/text-to-speech/{RACHEL}"


@pytest.fixture
def multi(voice: str, alice: Party) -> Iterator[ClientConnection]:
    with opened(f"{voice}/multi-stream-input?{FORMAT}", alice) as client:
        yield client


def test_settings_cannot_change(multi: ClientConnection) -> None:
    send(multi, " ", voice_settings={"stability": 0.5})
    send(multi, "Hello.", voice_settings={"stability": 0.9})
    failed(multi, "invalid_value")
    assert closed(multi) == 1008


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("{", "invalid_json"),
        ("[]", "invalid_json"),
        ('{"text": 5}', "invalid_type"),
        ('{"texts": "x"}', "unknown_field"),
        ('{"text": "x", "voice_settings": {"speed": 9}}', "invalid_value"),
        ('{"text": "x", "generation_config": {"chunk_length_schedule": [0]}}', "invalid_value"),
    ],
)
def test_bad_messages_end_the_socket(
    multi: ClientConnection, engine: ScriptedEngine, message: str, error: str
) -> None:
    multi.send(message)
    failed(multi, error)
    assert closed(multi) == 1008
    assert engine.heard == []


def test_too_long_a_text_harms_no_other_context(
    multi: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script = Script(hold_after=1)
    send(multi, "Hello.", context_id="a", flush=True)
    assert received(multi)["contextId"] == "a"
    send(multi, "x" * 5000, context_id="b")
    assert failed(multi, "max_character_limit_exceeded")["contextId"] == "b"
    assert hear(multi, "b") == b""
    engine.release.set()
    send(multi, context_id="a", close_context=True)
    assert hear(multi, "a") == spoken(5)[len(spoken(1)) :]
    eventually(lambda: RequestLog.objects.filter(error_code="string_above_max_length").exists())


def test_a_broken_engine_ends_its_context(multi: ClientConnection, engine: ScriptedEngine) -> None:
    error = pb.Error(code="internal", message="no")
    engine.next_scripts.append(Script(error=error, error_after=0))
    send(multi, "Hello.", context_id="a")
    send(multi, context_id="a", close_context=True)
    assert failed(multi, "internal", 1011)["contextId"] == "a"
    assert received(multi)["isFinal"] is True
    send(multi, "Again.", context_id="a")
    send(multi, context_id="a", close_context=True)
    assert hear(multi, "a") == spoken(5)


def test_inactivity(voice: str, alice: Party) -> None:
    with opened(f"{voice}/multi-stream-input?{FORMAT}&inactivity_timeout=1", alice) as socket:
        send(socket, " ", context_id="a")
        assert failed(socket, "input_timeout_exceeded")["contextId"] == "a"
        assert received(socket)["isFinal"] is True
        assert closed(socket) == 1000


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("model_id=aura", "model_id"),
        ("output_format=mp4", "output_format"),
        ("enable_ssml_parsing=perhaps", "enable_ssml_parsing"),
        ("inactivity_timeout=200", "inactivity_timeout"),
        ("auto_mode=maybe", "auto_mode"),
        ("voice=x", "voice"),
        ("seed=-1", "seed"),
    ],
)
def test_a_bad_query(voice: str, alice: Party, query: str, param: str) -> None:
    with (
        pytest.raises(InvalidStatus) as refusal,
        opened(f"{voice}/multi-stream-input?{query}", alice),
    ):
        pass
    assert json.loads(refusal.value.response.body)["detail"]["param"] == param


def test_too_many_open_contexts(multi: ClientConnection) -> None:
    for number in range(20):
        send(multi, " ", context_id=f"c{number}")
    send(multi, " ", context_id="one more")
    assert failed(multi, "max_active_conversations")["contextId"] == "one more"
    assert received(multi) == {"audio": None, "isFinal": True, "contextId": "one more"}
    send(multi, "Still here.", context_id="c0")
    send(multi, context_id="c0", close_context=True)
    assert hear(multi, "c0") == spoken(5)


def test_ssml_that_growing_text_cannot_have(voice: str, alice: Party) -> None:
    """Told of, not read aloud; other contexts go on."""
    path = f"{voice}/multi-stream-input?{FORMAT}&enable_ssml_parsing=true"
    with opened(path, alice) as socket:
        send(socket, '<phoneme ph="x">Hi</phoneme>. ', context_id="a", flush=True)
        told = failed(socket, "invalid_markup")
        assert (told["contextId"], "<phoneme" in told["message"]) == ("a", True)
        assert received(socket)["isFinal"] is True
        send(socket, 'One <break time="1s"/> two. ', context_id="b")
        send(socket, context_id="b", close_context=True)
        assert hear(socket, "b") == spoken(5) + bytes(48_000) + spoken(5)
