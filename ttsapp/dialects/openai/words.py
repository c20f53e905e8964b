"""When words are spoken: what may be asked for, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ttsapp.errors import invalid
from ttsapp.speech import captions
from ttsapp.speech.events import Word
from ttsapp.voices.catalogue import SpeechModel

_NOT_OF_CAPTIONS = ("stream_format", "sample_rate", "bit_rate", "word_timestamps")


def check(fields: Mapping[str, Any]) -> None:
    """Raises ApiError 400 for times that the wanted answer has no place for."""
    name = fields.get("response_format")
    if name in captions.FORMATS:
        for field in _NOT_OF_CAPTIONS:
            if field in fields:
                raise invalid(f"{name} has no {field}: leave it out.", field)
        if fields.get("stream"):
            raise invalid(f"{name} is always whole: leave stream out.", "stream")
    elif fields.get("word_timestamps"):
        is_sse, is_whole = fields.get("stream_format") == "sse", fields.get("stream") is False
        if not (is_sse or is_whole):
            message = "Audio bytes have no place for times: send stream_format sse, or stream false"
            raise invalid(f"{message} for a JSON answer.", "word_timestamps")


def check_model(model: SpeechModel, language: str, field: str) -> None:
    """Raises ApiError 400 where the model cannot tell them."""
    if not model.tells_words(language):
        told = ", ".join(name.title() for name in model.word_languages)
        remedy = f"it can in {told}" if told else "its engine has no aligner"
        message = f"The model {model.id!r} cannot tell word times in {language.title()}: {remedy}."
        raise invalid(message, field)


def listed(words: Sequence[Word], speed: float) -> list[dict[str, Any]]:
    """In seconds of what is heard."""
    return [
        {
            "word": word.text,
            "start": round(word.start_ms / 1000 / speed, 3),
            "end": round(word.end_ms / 1000 / speed, 3),
        }
        for word in words
    ]
