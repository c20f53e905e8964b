"""A language that is spoken here, whose words the aligner cannot tell: no times are made up, and
each dialect says so in its own way."""

from __future__ import annotations

import json

import httpx
import pytest
from websockets.sync.client import connect

from tests.ttsapp import elevenlabs_socket
from tests.ttsapp.cartesia_calls import say as say_cartesia
from tests.ttsapp.cartesia_socket import opened as cartesia
from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.elevenlabs_calls import RACHEL, say
from tests.ttsapp.live_socket.client import PATH, refused, send
from tests.ttsapp.scripted_engine import Script, ScriptedEngine

REMEDY = "cannot tell word times in German: it can in English."


@pytest.fixture(autouse=True)
def telling(engine: ScriptedEngine) -> None:
    engine.script = Script(tells_words=True)


def test_voices_say_whose_words_can_be_told(http: httpx.Client, alice: Party) -> None:
    found = http.get("/v1/audio/voices", headers=alice.headers).json()["data"][0]
    assert (found["languages"], found["word_languages"]) == (["english", "german"], ["english"])


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"word_timestamps": True, "stream": False}, "word_timestamps"),
        ({"word_timestamps": True, "stream_format": "sse"}, "word_timestamps"),
        ({"response_format": "srt"}, "response_format"),
        ({"response_format": "vtt"}, "response_format"),
    ],
)
def test_openai_refuses(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, fields: dict, param: str
) -> None:
    body = speech("Guten Tag.", language="de", **fields)
    answer = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_value", param)
    assert REMEDY in error["message"]
    assert engine.heard == []


def test_our_socket_refuses(base: str, alice: Party, engine: ScriptedEngine) -> None:
    address = base.replace("http:", "ws:") + PATH
    with connect(address, additional_headers=alice.headers) as socket:
        send(socket, type="start", voice="alloy", language="de", word_timestamps=True)
        told = refused(socket, "invalid_value", "word_timestamps")
    assert REMEDY in told["error"]["message"]
    assert engine.heard == []


@pytest.mark.parametrize("call", ["/with-timestamps", "/stream/with-timestamps"])
def test_elevenlabs_calls_have_null(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, call: str
) -> None:
    answer = say(http, alice, call, "Guten Tag.", language_code="de")
    lines = [json.loads(line) for line in answer.text.splitlines() if line]
    assert {(line["alignment"], line["normalized_alignment"]) for line in lines} == {(None, None)}
    assert not engine.heard[0].start.word_times


@pytest.mark.parametrize("name", ["stream-input", "multi-stream-input"])
def test_elevenlabs_sockets_have_null(
    base: str, alice: Party, engine: ScriptedEngine, name: str
) -> None:
    address = base.replace("http:", "ws:") + f"/v1/text-to-speech/{RACHEL}/{name}"
    address += f"?{elevenlabs_socket.FORMAT}&language_code=de"
    with elevenlabs_socket.opened(address, alice) as socket:
        elevenlabs_socket.send(socket, "Guten Tag. ", flush=True)
        heard = elevenlabs_socket.received(socket)
    assert (heard["alignment"], heard["normalizedAlignment"]) == (None, None)
    assert not engine.heard[0].start.word_times


def test_cartesia_has_audio_alone(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    how = {"transcript": "Guten Tag.", "language": "de", "add_timestamps": True}
    events = say_cartesia(http, alice, "/tts/sse", **how).text
    assert "event: chunk" in events
    assert "timestamps" not in events
    address = str(http.base_url).replace("http:", "ws:") + "/tts/websocket"
    with cartesia(address, alice.headers) as socket:
        socket.say(**how)
        kinds = {told["type"] for told in socket.until("done")}
    assert kinds == {"chunk", "done"}
    assert not any(stream.start.word_times for stream in engine.heard)


def test_the_same_in_english_has_times(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    body = speech("Hello.", language="en", word_timestamps=True, stream=False)
    answer = http.post("/v1/audio/speech", json=body, headers=alice.headers).json()
    assert [word["word"] for word in answer["words"]] == ["Hello."]
    assert say(http, alice, "/with-timestamps", "Hello.", language_code="en").json()["alignment"]
    assert (
        "event: timestamps"
        in say_cartesia(
            http, alice, "/tts/sse", transcript="Hello.", language="en", add_timestamps=True
        ).text
    )
