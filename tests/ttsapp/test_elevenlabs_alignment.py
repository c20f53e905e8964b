"""When characters are spoken, as ElevenLabs' clients are told, where the engine knows words."""

from __future__ import annotations

import base64
import json

import httpx
import pytest
from websockets.sync.client import connect

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.dialects.elevenlabs.alignment import AnswerClock
from ttsapp.speech.events import Word


@pytest.fixture(autouse=True)
def teller(engine: ScriptedEngine) -> ScriptedEngine:
    engine.script = Script(tells_words=True)
    return engine


def xi(party: Party) -> dict[str, str]:
    return {"xi-api-key": party.secret}


def say(http: httpx.Client, party: Party, call: str) -> httpx.Response:
    path = f"/v1/text-to-speech/Anna/{call}?output_format=pcm_24000"
    return http.post(path, json={"text": "Hello there. Bye."}, headers=xi(party))


def test_with_timestamps(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, "with-timestamps").json()
    found = answer["alignment"]
    assert "".join(found["characters"]) == "Hello there. Bye."
    assert len({len(array) for array in found.values()}) == 1
    assert found["character_end_times_seconds"][-1] == 0.4
    assert answer["normalized_alignment"] == found


def test_an_alignment_has_every_sign_of_the_text(http: httpx.Client, alice: Party) -> None:
    text = "R & D — 5 % “off” 😀, on March 3, 2024 ... done! 👋"
    path = "/v1/text-to-speech/Anna/with-timestamps?output_format=pcm_24000"
    answer = http.post(path, json={"text": text}, headers=xi(alice)).json()
    found = answer["alignment"]
    assert "".join(found["characters"]) == text
    starts = found["character_start_times_seconds"]
    assert starts == sorted(starts)
    assert len({len(array) for array in found.values()}) == 1


def test_lines_have_times_on_the_answers_one_clock(http: httpx.Client, alice: Party) -> None:
    lines = [
        json.loads(line) for line in say(http, alice, "stream/with-timestamps").text.splitlines()
    ]
    assert b"".join(base64.b64decode(line["audio_base64"]) for line in lines) == spoken(5)
    (told,) = [line["alignment"] for line in lines if line["alignment"]]
    assert "".join(told["characters"]) == "Hello there. Bye."
    assert told["character_start_times_seconds"][0] == 0.0


def test_the_lines_of_an_answer_join_to_its_text() -> None:
    clock = AnswerClock(speed=2)
    lines = [
        clock.alignment([Word(text, start, start + 200)]) for text, start in (("A", 0), ("B", 300))
    ]
    assert lines[1] == {
        "characters": [" ", "B"],
        "character_start_times_seconds": [0.1, 0.15],
        "character_end_times_seconds": [0.1, 0.25],
    }
    assert [line and line["characters"] for line in lines] == [["A"], [" ", "B"]]
    assert clock.alignment([]) is None


def test_bytes_alone_have_no_words_looked_for(
    http: httpx.Client, alice: Party, teller: ScriptedEngine
) -> None:
    say(http, alice, "stream")
    assert not teller.heard[0].start.word_times


def test_messages_have_times_of_their_own(base: str, alice: Party) -> None:
    """Each sentence ends in a blank, times begin anew with each message, and both alignments are
    there; the last words of a flushed text do not wait for audio to come with."""
    url = f"{base.replace('http:', 'ws:')}/v1/text-to-speech/Anna/multi-stream-input"
    with connect(f"{url}?output_format=pcm_24000", additional_headers=xi(alice)) as socket:
        socket.send(json.dumps({"text": "Hello there. Bye.", "flush": True}))
        messages = [json.loads(socket.recv(10)) for _ in range(11)]
    told = [message for message in messages if message["alignment"]]
    assert [message["normalizedAlignment"] for message in told] == [
        message["alignment"] for message in told
    ]
    first, second = (message["alignment"] for message in told)
    assert ("".join(first["chars"]), first["charStartTimesMs"][0]) == ("Hello there. ", 0)
    assert second == {
        "chars": ["B", "y", "e", ".", " "],
        "charStartTimesMs": [0, 100, 200, 300, 400],
        "charDurationsMs": [100, 100, 100, 100, 0],
    }
    assert (told[0] is messages[5], told[1] is messages[10]) == (True, True)
    assert messages[10]["audio"] == ""
