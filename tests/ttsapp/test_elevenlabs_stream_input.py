"""ElevenLabs' stream-input: one text on a socket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from websockets.sync.client import ClientConnection

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party
from tests.ttsapp.elevenlabs_socket import FORMAT, closed, failed, hear, opened, send
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken

RACHEL = "21m00Tcm4TlvDq8ikWAM"


@pytest.fixture
def voice(base: str) -> str:
    return base.replace("http:", "ws:") + f"/v1/text-to-speech/{RACHEL}"


@pytest.fixture
def single(voice: str, alice: Party) -> Iterator[ClientConnection]:
    with opened(f"{voice}/stream-input?{FORMAT}", alice) as client:
        yield client


def test_stream_input(single: ClientConnection, alice: Party, engine: ScriptedEngine) -> None:
    send(
        single,
        " ",
        try_trigger_generation=True,
        voice_settings=None,
        generation_config={"chunk_length_schedule": [50]},
    )
    send(single, "Hello ", try_trigger_generation=True)
    send(single, "there. ")
    send(single, "")
    assert hear(single) == spoken(5)
    assert closed(single) == 1000
    assert engine.heard[0].text.strip() == "Hello there."
    assert UsageEvent.objects.get().tenant_id == alice.tenant.id


def test_stream_input_of_nothing(single: ClientConnection, engine: ScriptedEngine) -> None:
    send(single, " ")
    send(single, "")
    assert hear(single) == b""
    assert closed(single) == 1000
    assert engine.heard == []


def test_stream_input_that_is_ended_at_once(single: ClientConnection) -> None:
    send(single, "")
    assert hear(single) == b""
    assert closed(single) == 1000


def test_stream_input_error_has_a_message(single: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"))
    send(single, "Hello.", flush=True)
    failed(single, "internal", 1011)
    assert closed(single) == 1011


def test_stream_input_text_too_long(single: ClientConnection) -> None:
    send(single, "x" * 5000)
    failed(single, "max_character_limit_exceeded")
    assert closed(single) == 1008
