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


def test_a_schedule_makes_text_wait_for_more(
    single: ClientConnection, engine: ScriptedEngine
) -> None:
    send(single, " ", generation_config={"chunk_length_schedule": [20, 1]})
    send(single, "One. ")
    send(single, "Two. ")
    send(single, "Three, four, five. ")
    send(single, "Six. ")
    engine.wait_for_stream()
    send(single, "")
    hear(single)
    assert engine.heard[0].text.strip().startswith("One. Two.")
    assert [heard.text.strip() for heard in engine.heard][-1] == "Six."


@pytest.mark.parametrize("early", [{"flush": True}, {"try_trigger_generation": True}])
def test_what_a_schedule_holds_can_be_asked_for(
    single: ClientConnection, engine: ScriptedEngine, early: dict[str, bool]
) -> None:
    send(single, " ", generation_config={"chunk_length_schedule": [500]})
    send(single, "One. ")
    send(single, "Two. ", **early)
    assert engine.wait_for_stream().text.strip().startswith("One.")


def test_what_a_schedule_holds_is_spoken_at_the_end(
    single: ClientConnection, engine: ScriptedEngine
) -> None:
    send(single, " ", generation_config={"chunk_length_schedule": [500]})
    send(single, "Only this. ")
    send(single, "")
    assert hear(single) == spoken(5)
    assert engine.heard[0].text.strip() == "Only this."


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
