"""Cartesia's dialect as server-sent events."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.cartesia_calls import body, refused, say
from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog


def events(answer: httpx.Response) -> list[dict[str, Any]]:
    found = []
    for block in answer.text.split("\n\n")[:-1]:
        name, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def test_sse(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, "/tts/sse", add_timestamps=True, context_id="mine")
    assert answer.headers["content-type"] == "text/event-stream"
    told = events(answer)
    *chunks, done = told
    assert b"".join(base64.b64decode(one["data"]) for one in chunks) == spoken(5)
    assert {one["type"] for one in chunks} == {"chunk"}
    fields = {"type", "data", "step_time", "status_code", "done", "context_id"}
    assert all(set(one) == fields for one in chunks)
    assert {(one["status_code"], one["done"], one["context_id"]) for one in chunks} == {
        (206, False, "mine")
    }
    assert done == {"type": "done", "status_code": 200, "done": True, "context_id": "mine"}
    assert RequestLog.objects.get().transport == "sse"


def test_sse_without_a_context_id(http: httpx.Client, alice: Party) -> None:
    assert all("context_id" not in one for one in events(say(http, alice, "/tts/sse")))


def test_sse_is_raw_only(http: httpx.Client, alice: Party) -> None:
    wanted = {"container": "mp3", "sample_rate": 44100, "bit_rate": 128000}
    answer = say(http, alice, "/tts/sse", output_format=wanted)
    assert "choose one of raw." in refused(answer, 400, "invalid_value")


def test_sse_phonemes(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, "/tts/sse", add_phoneme_timestamps=True)
    refused(answer, 400, "unsupported_parameter")


def test_sse_that_fails_before_the_first_chunk(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"))
    refused(say(http, alice, "/tts/sse"), 500, "internal")


def test_sse_that_fails_later(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"), error_after=2)
    heard = b""
    with http.stream("POST", "/tts/sse", json=body(), headers=alice.headers) as answer:
        with pytest.raises(httpx.RemoteProtocolError):
            for piece in answer.iter_bytes():
                heard += piece
        last = json.loads(heard.decode().strip().rpartition("data: ")[2])
    assert (last["type"], last["error_code"], last["status_code"]) == ("error", "internal", 500)
    assert last["request_id"] == answer.headers["x-request-id"]
    assert last["done"] is False


def test_sse_words(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    """In seconds of what is sent: at 1.25 times the speed they come sooner."""
    engine.script = Script(tells_words=True)
    for speed, end in ((1.0, 0.4), (1.25, 0.32)):
        config = {"speed": speed}
        answer = say(http, alice, "/tts/sse", add_timestamps=True, generation_config=config)
        (words,) = [one for one in events(answer) if one["type"] == "timestamps"]
        assert words["word_timestamps"]["words"] == ["Hello", "there."]
        assert words["word_timestamps"]["end"][-1] == end
        assert (words["status_code"], words["done"]) == (206, False)


def test_words_echo_the_transcript(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    """LiveKit looks for each of them in what it sent, and gives up at the first that it misses."""
    engine.script = Script(tells_words=True)
    transcript = "R & D —  5 % “off” 😀, on March 3, 2024 ... done! 👋"
    answer = say(http, alice, "/tts/sse", add_timestamps=True, transcript=transcript)
    told = [one["word_timestamps"] for one in events(answer) if one["type"] == "timestamps"]
    assert [word for one in told for word in one["words"]] == transcript.split()
    starts = [start for one in told for start in one["start"]]
    assert starts == sorted(starts)


def test_sse_words_unasked(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    engine.script = Script(tells_words=True)
    told = {one["type"] for one in events(say(http, alice, "/tts/sse"))}
    assert told == {"chunk", "done"}
    assert not engine.heard[0].start.word_times
