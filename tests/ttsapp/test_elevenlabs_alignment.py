"""When characters are spoken, as ElevenLabs' clients are told, where the engine knows words."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx
import pytest
from websockets.sync.client import connect

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import spoken
from ttsapp.speech.context import Context
from ttsapp.speech.events import Audio, Event, Word, Words

WORDS = {0: (Word("Hello", 0, 50), Word("there.", 50, 80)), 1920: (Word("Bye.", 100, 140),)}


@pytest.fixture(autouse=True)
def told_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine with an aligner: each of the first two chunks has the words that it begins."""
    events = Context.events

    async def with_words(context: Context) -> AsyncGenerator[Event]:
        async with aclosing(events(context)) as found:
            async for event in found:
                if isinstance(event, Audio) and event.first_sample in WORDS:
                    yield Words(WORDS[event.first_sample])
                yield event

    monkeypatch.setattr(Context, "events", with_words)


def xi(party: Party) -> dict[str, str]:
    return {"xi-api-key": party.secret}


def say(http: httpx.Client, party: Party, call: str) -> httpx.Response:
    path = f"/v1/text-to-speech/Anna/{call}?output_format=pcm_24000"
    return http.post(path, json={"text": "Hello there. Bye."}, headers=xi(party))


def test_with_timestamps(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, "with-timestamps").json()
    found = answer["alignment"]
    assert "".join(found["characters"]) == "Hello there. Bye. "
    assert len({len(array) for array in found.values()}) == 1
    assert found["character_end_times_seconds"][-1] == 0.14
    assert answer["normalized_alignment"] == found


def test_lines_have_times_on_the_answers_one_clock(http: httpx.Client, alice: Party) -> None:
    lines = [
        json.loads(line) for line in say(http, alice, "stream/with-timestamps").text.splitlines()
    ]
    assert b"".join(base64.b64decode(line["audio_base64"]) for line in lines) == spoken(5)
    told = [line["alignment"] for line in lines if line["alignment"]]
    assert ["".join(one["characters"]) for one in told] == ["Hello there. ", "Bye. "]
    assert told[1]["character_start_times_seconds"][0] == 0.1


def test_messages_have_times_of_their_own(base: str, alice: Party) -> None:
    """Each sentence ends in a blank, times begin anew with each message, and both alignments are
    there."""
    url = f"{base.replace('http:', 'ws:')}/v1/text-to-speech/Anna/multi-stream-input"
    with connect(f"{url}?output_format=pcm_24000", additional_headers=xi(alice)) as socket:
        socket.send(json.dumps({"text": "Hello there. Bye.", "flush": True}))
        messages = [json.loads(socket.recv(10)) for _ in range(3)]
    first, second, third = (message["alignment"] for message in messages)
    assert [message["normalizedAlignment"] for message in messages] == [first, second, third]
    assert ("".join(first["chars"]), first["charStartTimesMs"][0]) == ("Hello there. ", 0)
    assert second == {
        "chars": ["B", "y", "e", ".", " "],
        "charStartTimesMs": [20, 30, 40, 50, 60],
        "charDurationsMs": [10, 10, 10, 10, 0],
    }
    assert third is None
