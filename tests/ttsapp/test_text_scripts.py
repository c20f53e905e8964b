"""A text in no language that the model speaks is refused, whatever it came by."""

from __future__ import annotations

import json

import httpx
import pytest
from websockets.sync.client import connect

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog
from ttsapp.speech.text.scripts import is_foreign

MESSAGE = "The text is in no language of the model 'scripted-voices': it speaks English, German."
FOREIGN = ["你好，世界。", "Привет всем.", "こんにちは。", "안녕하세요.", "مرحبا", "5 元"]


@pytest.mark.parametrize(
    ("text", "spoken_languages", "expected"),
    [
        ("Grüße", ["english"], False),
        ("42!", ["english"], False),
        ("会议 at noon", ["english"], False),
        ("会议", ["english", "chinese"], False),
        ("会议", ["japanese"], False),
        ("会议", ["korean"], False),
        ("こんにちは", ["chinese"], True),
        ("Hello", ["russian"], True),
        ("Привет", ["russian"], False),
        ("안녕", ["korean"], False),
        ("안녕", ["japanese", "chinese"], True),
        ("ＨＥＬＬＯ", ["english"], False),
        ("你好", ["klingon"], False),
        ("你好", [], False),
    ],
)
def test_scripts(text: str, spoken_languages: list[str], expected: bool) -> None:
    assert is_foreign(text, spoken_languages) is expected


@pytest.mark.parametrize("text", FOREIGN)
@pytest.mark.parametrize("stream", [True, False])
def test_a_foreign_text(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, text: str, stream: bool
) -> None:
    body = speech(text, stream=stream)
    response = http.post("/v1/audio/speech", json=body, headers=alice.headers)

    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["param"], error["message"]) == (
        "invalid_value",
        "language",
        MESSAGE,
    )
    assert engine.heard == []
    log = eventually(RequestLog.objects.first)
    assert isinstance(log, RequestLog)
    assert (log.status, log.ended, log.error_field, log.characters) == (
        400,
        "refused",
        "language",
        0,
    )
    assert not UsageEvent.objects.exists()
    assert not Reservation.objects.exists()


def test_tags_are_no_text(http: httpx.Client, alice: Party) -> None:
    body = speech("<speak>你好</speak>", enable_ssml_parsing=True)
    response = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    assert (response.status_code, response.json()["error"]["param"]) == (400, "language")


@pytest.mark.parametrize("text", ["你好. Hello.", "Hello 你好.", "12 + 3 = 15"])
def test_mixed_text_passes(http: httpx.Client, alice: Party, text: str) -> None:
    response = http.post("/v1/audio/speech", json=speech(text), headers=alice.headers)
    assert response.status_code == 200


def test_who_names_a_language_has_it(http: httpx.Client, alice: Party) -> None:
    body = speech("你好", language="en")
    response = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    assert (response.status_code, response.content) == (200, spoken(5))


@pytest.mark.parametrize("mode", ["sentence", "token"])
def test_live_text(base: str, alice: Party, engine: ScriptedEngine, mode: str) -> None:
    url = base.replace("http:", "ws:") + "/v1/audio/speech/ws"
    with connect(url, additional_headers=alice.headers) as socket:
        socket.send(json.dumps({"type": "start", "voice": "alloy", "mode": mode}))
        assert json.loads(socket.recv(10))["type"] == "accepted"
        socket.send(json.dumps({"type": "text", "text": "Привет всем. "}))
        if mode == "sentence":
            socket.send(json.dumps({"type": "flush", "flush_id": "a"}))
        told = json.loads(socket.recv(10))

        assert (told["type"], told["error"]["param"], told["error"]["message"]) == (
            "error",
            "language",
            MESSAGE,
        )
        assert (told["characters"], told["billed_characters"]) == (0, 0)
        assert engine.heard == []


def test_live_text_that_begins_in_a_language_may_go_on_in_any(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    url = base.replace("http:", "ws:") + "/v1/audio/speech/ws"
    with connect(url, additional_headers=alice.headers) as socket:
        for message in (
            {"type": "start", "voice": "alloy"},
            {"type": "text", "text": "He said: so. "},
            {"type": "flush", "flush_id": "a"},
            {"type": "text", "text": "Привет всем."},
            {"type": "end"},
        ):
            socket.send(json.dumps(message))
        audio, kinds = b"", []
        while kinds[-1:] not in (["finished"], ["error"]):
            piece = socket.recv(10)
            if isinstance(piece, bytes):
                audio += piece
            else:
                kinds.append(json.loads(piece)["type"])
    assert (audio, kinds) == (spoken(5) * 2, ["accepted", "flushed", "finished"])
    assert [stream.text for stream in engine.heard] == ["He said: so. ", "Привет всем."]
