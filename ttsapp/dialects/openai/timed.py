"""Whole answers with the times of their words: audio in JSON, and captions in place of audio."""

from __future__ import annotations

import base64
from contextlib import aclosing

from django.http import HttpResponse

from ttsapp.dialects.openai import words
from ttsapp.http import json_response
from ttsapp.speech import answers
from ttsapp.speech.captions import CONTENT_TYPES
from ttsapp.speech.captions import captions as captions_of
from ttsapp.speech.encoders.samples import BYTES_PER_MS
from ttsapp.speech.events import Word
from ttsapp.speech.session import Session


async def document(session: Session) -> HttpResponse:
    """Audio and words in one. Raises ApiError if any of it fails."""
    audio = await answers.file(session)
    order, tally = session.order, session.tally
    response = json_response(
        {
            "object": "audio.speech",
            "response_format": order.response_format,
            "sample_rate": order.audio.sample_rate,
            "audio": base64.b64encode(audio).decode(),
            "duration": round(tally.audio_ms / 1000 / order.speed, 3),
            "words": words.listed(session.words, order.speed),
            "finish_reason": tally.finish_reason,
        }
    )
    answers.describe(session, response)
    return response


async def captions(session: Session) -> HttpResponse:
    """A text whose words cannot be told is one caption. Raises ApiError if any of it fails."""
    order, length = session.order, 0
    async with aclosing(session.audio()) as audio:
        async for pcm in audio:
            length += len(pcm)
    told = session.words or [Word(" ".join(session.text.split()), 0, length // BYTES_PER_MS)]
    heard = [
        Word(word.text, round(word.start_ms / order.speed), round(word.end_ms / order.speed))
        for word in told
    ]
    name = order.response_format
    content_type = f"{CONTENT_TYPES[name]}; charset=utf-8"
    response = HttpResponse(captions_of(heard, name), content_type=content_type)
    answers.describe(session, response)
    response["x-finish-reason"] = session.tally.finish_reason
    response["x-audio-ms"] = str(round(session.tally.audio_ms / order.speed))
    return response
