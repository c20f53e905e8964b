"""Consents and voices by OpenAI's client, unmodified."""

from __future__ import annotations

import openai
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices import recordings

SAMPLE = ("ann.wav", recordings.wav(recordings.speech()), "audio/wav")


def test_consents_and_voices_make_a_round(base: str, cloning: ScriptedEngine, alice: Party) -> None:
    with openai.OpenAI(base_url=f"{base}/v1", api_key=alice.secret, max_retries=0) as client:
        consents, voices = client.audio.voice_consents, client.audio.voices
        first = consents.create(name="Ann", language="en", recording=SAMPLE)
        second = consents.create(name="Ben", language="de", recording=SAMPLE)
        assert consents.update(first.id, name="Anna").name == "Anna"
        assert consents.retrieve(first.id).name == "Anna"
        # The pages end.
        assert [each.id for each in consents.list(limit=1)] == [second.id, first.id]

        voice = voices.create(name="Ann", consent=first.id, audio_sample=SAMPLE)
        assert (voice.object, voice.name, voice.type) == ("audio.voice", "Ann", "audio_sample")
        spoken = client.audio.speech.create(model="tts-1", voice={"id": voice.id}, input="Hello.")
        assert len(spoken.content) > 1000
        assert voices.delete(voice.id).deleted is True
        assert consents.delete(second.id).deleted is True
        with pytest.raises(openai.BadRequestError, match="Unknown voice"):
            client.audio.speech.create(model="tts-1", voice=voice.id, input="Hello.")
