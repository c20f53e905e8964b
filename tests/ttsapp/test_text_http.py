"""The text front end as callers of the API meet it."""

from __future__ import annotations

import time

import httpx
import pytest

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog


def say(http: httpx.Client, party: Party, text: str, **fields: object) -> httpx.Response:
    body = speech(text, **fields)
    return http.post("/v1/audio/speech", json=body, headers=party.headers)


def preview(http: httpx.Client, party: Party, text: str, **fields: object) -> httpx.Response:
    body = {"input": text, **fields}
    return http.post("/v1/text/preview", json=body, headers=party.headers)


def heard(engine: ScriptedEngine) -> list[str]:
    return [stream.start.text for stream in engine.heard]


def silence(milliseconds: int) -> bytes:
    return bytes(milliseconds * 48)


def test_clean_up(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    response = say(http, alice, "“Hello”\u200b there 😀!")
    assert heard(engine) == ['"Hello" there!']
    # What was sent is what is charged.
    assert response.headers["x-parlance-characters"] == "17"
    assert UsageEvent.objects.get().billed_characters == 17


def test_numbers_as_words(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    say(http, alice, "It is $5.", language="english", apply_text_normalization="on")
    assert heard(engine) == ["It is five dollars."]
    assert UsageEvent.objects.get().billed_characters == 9


@pytest.mark.parametrize("value", ["off", "auto", ...])
def test_numbers_are_left_to_the_model(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, value: object
) -> None:
    say(http, alice, "It is $5.", apply_text_normalization=value)
    assert heard(engine) == ["It is $5."]


@pytest.mark.parametrize("stream", [True, False])
def test_pauses(http: httpx.Client, alice: Party, engine: ScriptedEngine, stream: bool) -> None:
    text = "One. [pause 100ms] Two. [pause 50ms]"
    response = say(http, alice, text, enable_ssml_parsing="pauses", stream=stream)
    assert heard(engine) == ["One. ", " Two. "]
    assert response.content == spoken(5) + silence(100) + spoken(5) + silence(50)
    assert UsageEvent.objects.get().billed_characters == len("One.  Two. ")


def test_ssml(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    text = '<speak><break time="80ms"/>Hi <sub alias="World Wide Web">WWW</sub>.</speak>'
    response = say(http, alice, text, enable_ssml_parsing=True)
    assert heard(engine) == ["Hi World Wide Web."]
    assert response.content == silence(80) + spoken(5)
    assert UsageEvent.objects.get().billed_characters == len("Hi World Wide Web.")


def test_a_rate_of_its_own(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    text = '<speak>One. <prosody rate="50%">Two.</prosody></speak>'
    response = say(http, alice, text, enable_ssml_parsing=True)
    assert heard(engine) == ["One. ", "Two."]
    assert len(response.content) == 3 * len(spoken(5))
    assert response.content[: len(spoken(5))] == spoken(5)


def test_tags_are_text_by_default(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    say(http, alice, "a <break/> [pause] b")
    assert heard(engine) == ["a <break/> [pause] b"]


def test_a_text_of_tags_alone(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    response = say(http, alice, "<speak><break/></speak>", enable_ssml_parsing=True)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "empty_input")
    assert heard(engine) == []
    assert not UsageEvent.objects.filter(billed_characters__gt=0).exists()


@pytest.mark.parametrize(
    ("text", "fields", "field", "message"),
    [
        (
            "<speak>Hi <phoneme>x</phoneme></speak>",
            {"enable_ssml_parsing": True},
            "input",
            "input, character 11: <phoneme> is not offered: the voice reads words, not phonemes: "
            'use <sub alias="…"> or the lexicon.',
        ),
        (
            "Hi",
            {"enable_ssml_parsing": "yes"},
            "enable_ssml_parsing",
            'enable_ssml_parsing may be true, false or "pauses".',
        ),
        (
            "Hi",
            {"apply_text_normalization": "maybe"},
            "apply_text_normalization",
            "apply_text_normalization 'maybe' is not offered: choose one of auto, on, off.",
        ),
    ],
)
@pytest.mark.parametrize("call", [say, preview])
def test_refusals(
    http: httpx.Client,
    alice: Party,
    engine: ScriptedEngine,
    call: object,
    text: str,
    fields: dict[str, object],
    field: str,
    message: str,
) -> None:
    response = call(http, alice, text, **fields)  # type: ignore[operator]
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["param"], error["message"]) == (field, message)
    assert heard(engine) == []


def test_preview(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    response = preview(
        http, alice, "Dr. Smith paid $3.50.", language="en", apply_text_normalization="on"
    )
    assert response.json() == {
        "object": "text.preview",
        "language": "en",
        "characters": 21,
        "final_pause_ms": 0,
        "segments": [
            {
                "text": "Doctor Smith paid three dollars and fifty cents.",
                "pause_ms": 0,
                "rate": 1.0,
                "start": 0,
                "end": 21,
            }
        ],
    }
    assert heard(engine) == []
    assert not UsageEvent.objects.exists()


@pytest.mark.parametrize("text", [" ", "😀", "x" * 4097])
def test_preview_refuses_what_speech_refuses(http: httpx.Client, alice: Party, text: str) -> None:
    spoken_of, previewed = say(http, alice, text), preview(http, alice, text)
    assert previewed.status_code == spoken_of.status_code == 400
    assert previewed.json()["error"] == spoken_of.json()["error"]


def test_preview_needs_a_key(http: httpx.Client, alice: Party) -> None:
    assert http.post("/v1/text/preview", json={"input": "Hi"}).status_code == 401


def test_what_is_done_to_the_text_is_in_the_times(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    def detect_slowly(*_: object) -> str:
        time.sleep(0.5)
        return "en"

    monkeypatch.setattr("ttsapp.speech.prepared.detect", detect_slowly)
    say(http, alice, "It is $5.", apply_text_normalization="on")

    log = RequestLog.objects.get()
    assert log.first_audio_ms is not None
    assert 500 <= log.first_audio_ms <= log.total_ms
