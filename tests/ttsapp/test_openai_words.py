"""Word times in OpenAI's dialect: JSON, events, the socket, captions."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.speech.captions import captions
from ttsapp.speech.events import Word

HELLO = [
    {"word": "Hello", "start": 0.0, "end": 0.2},
    {"word": "there.", "start": 0.2, "end": 0.4},
]


@pytest.fixture(autouse=True)
def teller(engine: ScriptedEngine) -> ScriptedEngine:
    engine.script = Script(tells_words=True)
    return engine


def say(http: httpx.Client, party: Party, **fields: Any) -> httpx.Response:
    asked = {"word_timestamps": True, **fields}
    return http.post("/v1/audio/speech", json=speech(**asked), headers=party.headers)


def test_json(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, stream=False)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-parlance-characters"] == "12"
    told = answer.json()
    assert base64.b64decode(told.pop("audio")) == spoken(5)
    assert told == {
        "object": "audio.speech",
        "response_format": "pcm",
        "sample_rate": 24000,
        "duration": 0.4,
        "words": HELLO,
        "finish_reason": "stop",
    }


def test_times_are_those_of_what_is_heard(http: httpx.Client, alice: Party) -> None:
    told = say(http, alice, stream=False, speed=2.0).json()
    assert (told["duration"], told["words"][1]["end"]) == (0.2, 0.2)


def test_events(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, stream_format="sse")
    told = [json.loads(line[6:]) for line in answer.text.splitlines() if line]
    assert [one["type"] for one in told[-2:]] == ["speech.audio.words", "speech.audio.done"]
    assert told[-2]["words"] == HELLO
    heard = [one["audio"] for one in told if one["type"] == "speech.audio.delta"]
    assert b"".join(map(base64.b64decode, heard)) == spoken(5)


def test_the_socket(base: str, alice: Party) -> None:
    url = base.replace("http:", "ws:") + "/v1/audio/speech/ws"
    with connect(url, additional_headers=alice.headers) as socket:
        for message in (
            {"type": "start", "voice": "Anna", "word_timestamps": True},
            {"type": "text", "text": "Hello there."},
            {"type": "end"},
        ):
            socket.send(json.dumps(message))
        told = []
        while not told or told[-1]["type"] != "finished":
            if isinstance(piece := socket.recv(10), str):
                told.append(json.loads(piece))
    assert [one["type"] for one in told] == ["accepted", "words", "finished"]
    assert told[1]["words"] == HELLO


def test_srt(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, response_format="srt", word_timestamps=...)
    assert answer.headers["content-type"] == "application/x-subrip; charset=utf-8"
    assert answer.headers["x-audio-ms"] == "400"
    assert answer.text == "1\n00:00:00,000 --> 00:00:00,400\nHello there.\n"


def test_captions_of_words_that_cannot_be_told_are_one(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script()
    answer = say(http, alice, response_format="vtt", word_timestamps=...)
    assert answer.headers["content-type"] == "text/vtt; charset=utf-8"
    assert answer.text == "WEBVTT\n\n00:00:00.000 --> 00:00:00.400\nHello there.\n"


@pytest.mark.parametrize(
    ("fields", "param", "remedy"),
    [
        ({}, "word_timestamps", "send stream_format sse, or stream false"),
        ({"stream": False, "language": "de"}, "word_timestamps", "it can in English"),
        ({"response_format": "srt"}, "word_timestamps", "leave it out"),
        (
            {"response_format": "srt", "word_timestamps": ..., "stream": True},
            "stream",
            "leave stream out",
        ),
        (
            {"response_format": "vtt", "word_timestamps": ..., "language": "de"},
            "response_format",
            "it can in English",
        ),
    ],
)
def test_what_has_no_times_is_refused(
    http: httpx.Client, alice: Party, fields: dict[str, Any], param: str, remedy: str
) -> None:
    answer = say(http, alice, **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param
    assert remedy in answer.json()["error"]["message"]


def test_words_are_asked_for_only_where_somebody_wants_them(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    say(http, alice, word_timestamps=False)
    assert not engine.heard[0].start.word_times


def test_captions_end_with_sentences_and_before_silences_and_stay_short() -> None:
    words = [
        *(Word("long", 300 * n, 300 * n + 200) for n in range(10)),
        Word("end.", 3000, 3200),
        Word("Next", 3300, 3500),
        Word("<later>", 5000, 5200),
    ]
    assert captions(words, "vtt").split("\n\n") == [
        "WEBVTT",
        "00:00:00.000 --> 00:00:03.200\nlong long long long long\nlong long long long long end.",
        "00:00:03.300 --> 00:00:03.500\nNext",
        "00:00:05.000 --> 00:00:05.200\n&lt;later&gt;\n",
    ]


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        (
            "Mr. Jones met Mrs. Lee. They spoke for an hour, e.g. about boats.",
            ["Mr. Jones met Mrs. Lee.", "They spoke for an hour, e.g. about boats."],
        ),
        (
            "Really?! Yes... perhaps. It was I. Then I left.",
            ["Really?!", "Yes... perhaps.", "It was I.", "Then I left."],
        ),
        ("“Go!” he said. 👋 See No. 5.", ["“Go!” he said. 👋", "See No. 5."]),
    ],
)
def test_captions_end_where_speech_is_cut_into_sentences(
    http: httpx.Client, alice: Party, text: str, cues: Any
) -> None:
    fields = {"input": text, "language": "en", "word_timestamps": ...}
    answer = say(http, alice, response_format="vtt", **fields)
    shown = [block.split("\n", 1)[1].strip() for block in answer.text.split("\n\n")[1:]]
    assert shown == cues


def test_captions_show_every_sign_of_the_text(http: httpx.Client, alice: Party) -> None:
    text = "Salt & pepper 😀 — 5 % off! 👋"
    answer = say(http, alice, input=text, response_format="vtt", word_timestamps=...)
    shown = answer.text.split("\n", 3)[3]
    assert " ".join(shown.split()) == text.replace("&", "&amp;")


def test_captions_keep_what_nobody_says_with_what_it_follows() -> None:
    words = [
        Word("Bye!", 0, 200),
        Word("👋", 200, 200),
        Word("*", 3000, 3000),
        Word("Next", 3000, 3200),
        Word("...", 3200, 3200),
        Word("more", 4100, 4300),
    ]
    assert captions(words, "vtt").split("\n\n") == [
        "WEBVTT",
        "00:00:00.000 --> 00:00:00.200\nBye! 👋",
        "00:00:03.000 --> 00:00:03.200\n* Next ...",
        "00:00:04.100 --> 00:00:04.300\nmore\n",
    ]


def test_captions_put_no_blanks_where_the_text_has_none() -> None:
    words = [Word("你", 0, 200, goes_on=True), Word("好", 200, 400), Word("ok", 400, 600)]
    assert "\n你好 ok\n" in captions(words, "vtt")
