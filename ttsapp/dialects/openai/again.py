"""A request that was logged, as the call that makes the same audio again: whatever API it came by,
OpenAI's says all that decides it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ttsapp.speech import captions
from ttsapp.speech.asked import Asked
from ttsapp.speech.encoders import FORMATS, audio_format
from ttsapp.speech.models import RequestLog
from ttsapp.speech.text.languages import AUTO
from ttsapp.speech.text.markup import MARKUP_VALUES, Markup
from ttsapp.voices.kinds import DESCRIBED, DESIGN_TASK

# What an order calls it, and what the call does.
_NAMES = {
    "language": "language",
    "speed": "speed",
    "max_frames": "max_new_tokens",
    "first_chunk": "initial_codec_chunk_frames",
    "lead_silence_ms": "lead_silence_ms",
}
_MARKUP = {kind.value: sent for sent, kind in MARKUP_VALUES.items() if sent is not False}
# A text that had no other tags is read alike.
_MARKUP[Markup.PAUSES_ONLY.value] = _MARKUP[Markup.PAUSES.value]


def body(
    log: RequestLog, asked: Asked, text: str, instructions: str, *, has_lexicon: bool
) -> dict[str, Any]:
    """Of `POST /v1/audio/speech`. `has_lexicon`: the tenant has words now that could be said
    otherwise."""
    is_described = log.voice == DESCRIBED
    voice = {"task_type": DESIGN_TASK} if is_described else {"voice": log.voice}
    settings = {sent: asked[name] for name, sent in _NAMES.items() if name in asked}
    if settings.get("language") == AUTO:
        del settings["language"]
    if asked.get("has_instructions"):
        settings["instructions"] = instructions
    if asked.get("keeps_silence"):
        settings["trim_silence"] = False
    found = {"model": log.model, **voice, "seed": log.seed, **dict(_format(log, asked)), **settings}
    return {**found, **dict(_text(asked, has_lexicon=has_lexicon)), "input": text}


def _format(log: RequestLog, asked: Asked) -> Iterator[tuple[str, Any]]:
    name = log.response_format
    if name in captions.FORMATS:
        yield "response_format", name
    elif name in FORMATS:
        yield "response_format", name
        usual = audio_format(name)
        for rate in ("sample_rate", "bit_rate"):
            if asked.get(rate, getattr(usual, rate)) != getattr(usual, rate):
                yield rate, asked[rate]
        if asked.get("whole"):
            yield "stream", False


def _text(asked: Asked, *, has_lexicon: bool) -> Iterator[tuple[str, Any]]:
    if asked.get("is_normalised"):
        yield "apply_text_normalization", "on"
    if sent := _MARKUP.get(asked.get("markup", "")):
        yield "enable_ssml_parsing", sent
    if has_lexicon and not asked.get("lexicon"):
        yield "lexicon", False
