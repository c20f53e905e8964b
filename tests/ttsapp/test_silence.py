"""Silence before the first word: the voice's own, which is cut unless wanted, and what is added."""

from __future__ import annotations

import httpx
import pytest

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken

MS = 48


def say(http: httpx.Client, party: Party, **fields: object) -> httpx.Response:
    return http.post("/v1/audio/speech", json=speech(**fields), headers=party.headers)


@pytest.mark.parametrize("stream", [True, False])
def test_it_works(http: httpx.Client, alice: Party, stream: bool) -> None:
    answer = say(http, alice, lead_silence_ms=300, stream=stream)
    assert answer.content == bytes(300 * MS) + spoken(5)


def test_it_is_not_charged_and_goes_before_a_pause(http: httpx.Client, alice: Party) -> None:
    text = "[pause 100ms] Hello there."
    answer = say(http, alice, text=text, lead_silence_ms=200, enable_ssml_parsing="pauses")
    assert answer.content == bytes(300 * MS) + spoken(5)
    assert answer.headers["x-parlance-characters"] == "13"


@pytest.mark.parametrize(("trim", "is_kept"), [(True, False), (False, True), (None, False)])
def test_the_voices_own(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, trim: bool | None, is_kept: bool
) -> None:
    assert say(http, alice, trim_silence=trim).status_code == 200
    assert engine.heard[0].start.keep_silence is is_kept


def test_a_whole_answer_is_as_long_as_it_is_heard(http: httpx.Client, alice: Party) -> None:
    """Its pauses are in it, and its parts at their own rate."""
    text = '<speak>One.<break time="1s"/><prosody rate="50%">Two.</prosody></speak>'
    answer = say(http, alice, text=text, enable_ssml_parsing=True, stream=False)
    assert len(answer.content) == (400 + 1000 + 800) * MS
    assert answer.headers["x-audio-ms"] == "2200"
    eventually(lambda: UsageEvent.objects.filter(audio_ms=2200).exists())


def test_words_come_behind_it(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    engine.script = Script(tells_words=True)
    how = {"word_timestamps": True, "stream": False}
    usual = say(http, alice, **how).json()["words"]
    later = say(http, alice, **how, lead_silence_ms=500).json()
    assert [word["start"] for word in later["words"]] == [word["start"] + 0.5 for word in usual]
    assert later["duration"] == 0.9


def test_a_refusal_by_the_engine_is_still_one(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    """No byte of silence goes before it."""
    engine.script = Script(error=pb.Error(code="internal", message="It broke."))
    answer = say(http, alice, lead_silence_ms=300)
    assert (answer.status_code, "error" in answer.json()) == (500, True)


@pytest.mark.parametrize("value", [-1, 5001, "300"])
def test_out_of_range(http: httpx.Client, alice: Party, value: object) -> None:
    answer = say(http, alice, lead_silence_ms=value)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "lead_silence_ms")
