"""The same audio once more: the command that asks for it, and what has changed meanwhile."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

import msgspec

from ttsapp.console.served_voices import served_to
from ttsapp.dialects.openai.again import body
from ttsapp.lexicon.selectors import version
from ttsapp.speech.asked import Asked, unpack
from ttsapp.speech.models import KeptText, RequestLog
from ttsapp.speech.text.languages import AUTO
from ttsapp.tenants.models import Membership
from ttsapp.voices.catalogue import Catalogue, is_own_id

NO_TEXT = "…"
_CUT = {"sentence": "sentence by sentence", "token": "word by word"}


@dataclass(frozen=True, slots=True)
class Again:
    """`json`: the body, quoted for a shell. `file`: where the sound would go. `changes`: why it may
    sound otherwise. `playground`: a query for it, with what its fields can hold."""

    json: str
    file: str
    changes: tuple[str, ...]
    playground: str
    has_text: bool
    has_instructions: bool


def again(membership: Membership, log: RequestLog, kept: KeptText | None) -> Again | None:
    """None for what made nothing, and what an earlier version logged without its settings."""
    asked = unpack(log.asked)
    if asked is None or log.seed is None:
        return None
    lexicon = version(membership.tenant_id)
    words = (kept.text, kept.instructions) if kept is not None else (NO_TEXT, NO_TEXT)
    said = body(log, asked, *words, has_lexicon=lexicon > 0)
    written = msgspec.json.encode(said).decode()
    fields = {"voice": log.voice, "seed": log.seed, "speed": asked.get("speed", 1.0)}
    fields |= {"language": asked.get("language", AUTO), "format": log.response_format}
    fields |= {"rate": said.get("sample_rate", "")}
    return Again(
        json=shlex.quote(written),
        file=f"again.{log.response_format}",
        changes=tuple(_changes(served_to(membership), log, asked, lexicon)),
        playground=urlencode(fields),
        has_text=kept is not None,
        has_instructions=asked.get("has_instructions", False),
    )


def _changes(
    served: Catalogue | None, log: RequestLog, asked: Asked, lexicon: int
) -> Iterator[str]:
    if served is None:
        yield "No engine is there now: whether it would be the same is not known."
    else:
        yield from _of_voice(served, log, asked)
    if asked.get("lexicon", lexicon) not in (0, lexicon):
        yield "Your pronunciations have changed since then."
    if "volume" in asked:
        yield f"It was played at {asked['volume']:g} times its volume, which this call cannot ask."
    if cut := _CUT.get(asked.get("mode", "")):
        yield f"Its text came in parts and was spoken {cut}: a whole text may be cut otherwise."


def _of_voice(served: Catalogue, log: RequestLog, asked: Asked) -> Iterator[str]:
    model = next((model for model in served.models if model.id == log.model), None)
    if model is None:
        yield "Its model is not served now."
    elif model.fingerprint != asked.get("fingerprint"):
        yield "Its model has other weights since then."
    own = served.made.get(log.voice)
    if own is None and is_own_id(log.voice):
        yield "Its voice is there no more."
    elif own is not None and own.artifact != asked.get("artifact"):
        yield "Its voice has another version since then."
