"""`task_type` on the socket: what it means over HTTP, and the same refusals."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from tests.ttsapp.conftest import Party
from tests.ttsapp.live_socket.client import PATH, hear, refused, send, start
from tests.ttsapp.scripted_engine import ScriptedEngine, base_model, pb, spoken
from tests.ttsapp.voices.conftest import design_model, made
from tests.ttsapp.voices.tasks import UNFIT, WARM

Sent = dict[str, object]


@pytest.fixture
def socket(base: str, alice: Party) -> Iterator[ClientConnection]:
    url = base.replace("http:", "ws:") + PATH
    with connect(url, additional_headers=alice.headers) as client:
        yield client


def speak(socket: ClientConnection) -> bytes:
    """What is heard of a text, once the start was accepted."""
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    audio, finished = hear(socket)
    assert finished["type"] == "finished", finished
    return audio


@pytest.mark.parametrize(
    ("asked", "model", "kind", "voice"),
    [
        ({"voice": "Anna", "task_type": "CustomVoice"}, "scripted-voices", "preset", "Anna"),
        ({"task_type": "VoiceDesign"}, "scripted-design", "described", "(described)"),
        (
            {"voice": "alloy", "task_type": "VoiceDesign"},
            "scripted-design",
            "described",
            "(described)",
        ),
        ({"model": "scripted-design"}, "scripted-design", "described", "(described)"),
    ],
)
def test_it_works(
    socket: ClientConnection,
    three: ScriptedEngine,
    asked: Sent,
    model: str,
    kind: str,
    voice: str,
) -> None:
    send(socket, type="start", instructions=WARM, **asked)
    accepted = hear(socket)[1]

    assert (accepted["type"], accepted["model"], accepted["voice"]) == ("accepted", model, voice)
    assert speak(socket) == spoken(5)
    begun = three.heard[-1].start
    assert (begun.model, begun.voice.WhichOneof("kind")) == (model, kind)
    assert begun.instructions == WARM


@pytest.mark.parametrize("mode", ["sentence", "token"])
def test_a_described_voice_is_described_in_every_part(
    socket: ClientConnection, three: ScriptedEngine, mode: str
) -> None:
    send(socket, type="start", task_type="VoiceDesign", instructions=WARM, mode=mode, seed=7)
    assert hear(socket)[1]["type"] == "accepted"
    speak(socket)
    start(socket, task_type="VoiceDesign", instructions=WARM, mode=mode, seed=7)
    speak(socket)

    told = [(heard.start.voice.described, heard.start.instructions) for heard in three.heard]
    assert told == [(True, WARM)] * 2


@pytest.mark.parametrize("task", [{}, {"task_type": "Base"}])
def test_a_clone_goes_to_the_model_that_made_it(
    socket: ClientConnection, http: httpx.Client, three: ScriptedEngine, alice: Party, task: Sent
) -> None:
    start(socket, voice=made(http, alice), **task)
    speak(socket)
    assert three.heard[-1].start.model == "scripted-base"


@pytest.mark.parametrize(
    ("task", "kinds", "needed"),
    [
        ("VoiceDesign", [base_model()], "voice_design"),
        ("CustomVoice", [base_model(), design_model()], "custom_voice"),
        ("Base", [design_model()], "base"),
    ],
)
def test_a_kind_that_no_engine_holds_is_named(
    socket: ClientConnection,
    engine: ScriptedEngine,
    task: str,
    kinds: list[pb.Model],
    needed: str,
) -> None:
    engine.models = kinds
    send(socket, type="start", voice="alloy", task_type=task, instructions=WARM)
    told = refused(socket, "task_not_served", "task_type")
    assert told["error"]["message"].endswith(f"a checkpoint of kind {needed} is needed.")
    assert told["error"]["type"] == "invalid_request_error"
    assert engine.heard == []


@pytest.mark.parametrize(("asked", "code", "param"), UNFIT)
def test_what_does_not_fit_is_named(
    socket: ClientConnection, three: ScriptedEngine, asked: Sent, code: str, param: str
) -> None:
    send(socket, type="start", **asked)
    refused(socket, code, param)
    assert three.heard == []
    start(socket)
    assert speak(socket) == spoken(5)
