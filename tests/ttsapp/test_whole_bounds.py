"""How much silence a text may ask for, and how much audio an answer may hold in memory."""

from __future__ import annotations

import httpx
import pytest
from pytest_django import Settings

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.errors import ApiError
from ttsapp.speech.models import RequestLog
from ttsapp.speech.text.markup import Markup
from ttsapp.speech.text.prepare import TextOptions, prepare

TENS = '<break time="10s"/>' * 6
TOO_LONG = (
    "An answer that is sent whole may last 1 seconds. "
    "Ask for it as a stream, or send the text in several requests."
)


def pauses(text: str, markup: Markup) -> int:
    found = prepare(text, TextOptions(language="en", markup=markup))
    return sum(segment.pause_ms for segment in found.segments) + found.final_pause_ms


@pytest.mark.parametrize("markup", [Markup.PAUSES, Markup.SSML])
def test_a_minute_of_silence_is_spoken(markup: Markup) -> None:
    assert pauses(f"<speak>Hi. {TENS}Ho.</speak>", markup) == 60_000


@pytest.mark.parametrize("markup", [Markup.PAUSES, Markup.SSML])
def test_a_millisecond_more_is_refused_where_it_is_asked_for(markup: Markup) -> None:
    last = '<break time="1ms"/>'
    text = f"<speak>Hi. {TENS}Ho.{last}</speak>"
    with pytest.raises(ApiError) as refused:
        pauses(text, markup)
    assert (refused.value.status, refused.value.field) == (400, "input")
    assert refused.value.message == (
        f"input, character {text.index(last) + 1}: "
        "The pauses of a text may have 60 s in all: shorten them, or send the text in several "
        "requests."
    )


def test_a_small_request_cannot_fill_the_memory(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    text = "<speak>Hi." + '<break time="10s"/>' * 200 + "</speak>"
    fields = {"response_format": "wav_f32", "sample_rate": 48_000, "stream": False}
    body = speech(text, enable_ssml_parsing=True, **fields)
    response = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, "input")
    assert error["code"] == "invalid_markup"
    assert engine.heard == []


def say(http: httpx.Client, party: Party, pause_ms: int, **fields: object) -> httpx.Response:
    """400 ms of speech and a pause."""
    body = speech(f"Hi. [pause {pause_ms}ms]", enable_ssml_parsing="pauses", **fields)
    return http.post("/v1/audio/speech", json=body, headers=party.headers)


def test_a_whole_answer_of_the_longest(
    http: httpx.Client, alice: Party, settings: Settings
) -> None:
    settings.MAX_WHOLE_SECONDS = 1
    response = say(http, alice, 600, stream=False)
    assert response.content == spoken(5) + bytes(600 * 48)


def test_a_whole_answer_beyond_it(http: httpx.Client, alice: Party, settings: Settings) -> None:
    settings.MAX_WHOLE_SECONDS = 1
    response = say(http, alice, 601, stream=False)
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, "input")
    assert (error["code"], error["message"]) == ("audio_too_long", TOO_LONG)
    event = eventually(UsageEvent.objects.first)
    assert isinstance(event, UsageEvent)
    assert (event.outcome, event.billed_characters) == ("refused", 0)
    assert RequestLog.objects.get().error_code == "audio_too_long"
    assert not Reservation.objects.exists()


@pytest.mark.parametrize(("pause_ms", "status"), [(100, 200), (101, 400)])
def test_what_is_sent_is_what_counts(
    http: httpx.Client, alice: Party, settings: Settings, pause_ms: int, status: int
) -> None:
    settings.MAX_WHOLE_SECONDS = 1
    assert say(http, alice, pause_ms, stream=False, speed=0.5).status_code == status


def test_a_streamed_answer_may_be_longer(
    http: httpx.Client, alice: Party, settings: Settings
) -> None:
    settings.MAX_WHOLE_SECONDS = 1
    assert say(http, alice, 601).content == spoken(5) + bytes(601 * 48)
