"""Whole answers with the times of their words: audio in JSON, and captions in place of audio."""

from __future__ import annotations

import base64
from dataclasses import replace

import msgspec
from django.http import StreamingHttpResponse

from ttsapp.dialects.openai import words
from ttsapp.speech import answers
from ttsapp.speech.captions import CONTENT_TYPES
from ttsapp.speech.captions import captions as captions_of
from ttsapp.speech.encoders.samples import BYTES_PER_MS
from ttsapp.speech.events import Word
from ttsapp.speech.session import Session


async def document(session: Session) -> StreamingHttpResponse:
    """Audio and words in one. Raises ApiError if any of it fails."""
    content, audio = await answers.encoded(session)
    order, tally = session.order, session.tally
    body = msgspec.json.encode(
        {
            "object": "audio.speech",
            "response_format": order.response_format,
            "sample_rate": order.audio.sample_rate,
            "audio": base64.b64encode(content).decode(),
            "duration": tally.audio_ms / 1000,
            "words": words.listed(session.words, order.speed),
            "finish_reason": tally.finish_reason,
        }
    )
    return answers.handed_over(session, audio, body, "application/json")


async def captions(session: Session) -> StreamingHttpResponse:
    """A text whose words cannot be told is one caption. Raises ApiError if any of it fails."""
    order, length = session.order, 0

    async def measure(pcm: bytes) -> None:
        nonlocal length
        length += len(pcm)

    audio = await answers.made(session, measure)
    told = session.words or [Word(" ".join(session.text.split()), 0, length // BYTES_PER_MS)]
    heard = [
        replace(
            word,
            start_ms=round(word.start_ms / order.speed),
            end_ms=round(word.end_ms / order.speed),
        )
        for word in told
    ]
    name = order.response_format
    content_type = f"{CONTENT_TYPES[name]}; charset=utf-8"
    shown = captions_of(heard, name, session.language)
    response = answers.handed_over(session, audio, shown.encode(), content_type)
    answers.tell_end(session, response)
    return response
