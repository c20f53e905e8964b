"""A voice that a request brings with it, as other servers know it: a recording, or an embedding.
Under its speaker's consent it is made once, kept as one of the account's own, and found again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ttsapp import database
from ttsapp.dialects.openai import uncloned
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller
from ttsapp.voices import bound
from ttsapp.voices.catalogue import STOCK_VOICES, Catalogue
from ttsapp.voices.clips.fetching import recording_of
from ttsapp.voices.own import OwnVoice
from ttsapp.voices.selectors import catalogue
from ttsapp.voices.services import cloning
from ttsapp.voices.services.registry import Description

FIELDS: dict[str, Any] = {
    "ref_audio": str,
    "ref_text": str,
    "x_vector_only_mode": bool,
    "speaker_embedding": list[float],
    "consent": str,
}
_NAMES = cloning.Names(recording="ref_audio", text="ref_text")
_OF_EMBEDDING = cloning.Names(recording="speaker_embedding")
_BASE = "Base"


@dataclass(frozen=True, slots=True)
class Reference:
    """`audio`: a data URL or a public https address; empty where there is an embedding. `text`:
    what is said in it, empty where the timbre alone is wanted."""

    consent: str
    audio: str
    text: str
    embedding: tuple[float, ...]

    @property
    def label(self) -> str:
        """What its voice is called: the same for the same reference."""
        digest = hashlib.sha256(msgspec.json.encode(self)).hexdigest()
        return f"reference-{digest[:24]}"


def parse(fields: Mapping[str, Any]) -> Reference | None:
    """None for a request without one. Raises ApiError 400."""
    given = [name for name in uncloned.FIELDS if name in fields]
    if not given and "consent" in fields:
        message = "consent goes with ref_audio or speaker_embedding: leave it out."
        raise invalid(message, "consent")
    if not given:
        return None
    if not fields.get("consent", "").strip():
        raise uncloned.refused(given[0])
    _check(fields)
    is_timbre = fields.get("x_vector_only_mode", False)
    return Reference(
        consent=fields["consent"].strip(),
        audio=fields.get("ref_audio", ""),
        text="" if is_timbre else fields.get("ref_text", ""),
        embedding=tuple(fields.get("speaker_embedding", ())),
    )


def _check(fields: Mapping[str, Any]) -> None:
    audio, embedding = fields.get("ref_audio"), fields.get("speaker_embedding")
    if audio and embedding:
        raise invalid("Send ref_audio or speaker_embedding, not both.", "speaker_embedding")
    if not (audio or embedding):
        message = "ref_audio is required: a recording of the speaker, as a data URL or at https."
        raise invalid(message, "ref_audio", "missing_field")
    if fields.get("x_vector_only_mode") is False and audio and not fields.get("ref_text"):
        message = "ref_text is required where x_vector_only_mode is false: what is said in it."
        raise invalid(message, "ref_text", "missing_field")
    voice = getattr(fields.get("voice"), "id", fields.get("voice"))
    # OpenAI's clients cannot leave the voice out.
    if voice is not None and voice.casefold() not in STOCK_VOICES:
        raise invalid("A voice has been sent as a recording: leave voice out.", "voice")
    if fields.get("task_type", _BASE) != _BASE:
        raise invalid(f"A voice by its recording is of the task {_BASE}.", "task_type")


async def spoken_with(caller: Caller, reference: Reference, language: str) -> tuple[str, Catalogue]:
    """The id of its voice, and the catalogue that has it. Raises ApiError as making a voice
    does."""
    served = await catalogue(caller)
    tenant = await database.read(bound.maker, caller)
    await cloning.agreed(tenant, reference.consent, _NAMES.consent)
    if (found := _found(served, reference)) is not None:
        return found, served
    try:
        await _made(caller, reference, Description(reference.label, language=language))
    except ApiError as error:
        # Another request was sooner.
        if error.code != "name_taken":
            raise
    served = await catalogue(replace(caller, shelf=None))
    if (found := _found(served, reference)) is None:
        message = "This voice has just been deleted: send the request again."
        raise ApiError(404, "voice_not_found", message, field="ref_audio")
    return found, served


async def _made(caller: Caller, reference: Reference, said: Description) -> None:
    tenant = await database.read(bound.maker, caller)
    if reference.embedding:
        values, names = reference.embedding, _OF_EMBEDDING
        await cloning.embed(caller.actor, tenant, said, reference.consent, values, names=names)
        return
    await cloning.clone(
        caller.actor,
        tenant,
        said,
        reference.consent,
        await recording_of(reference.audio, _NAMES.recording),
        reference.text,
        names=_NAMES,
    )


def _found(served: Catalogue, reference: Reference) -> str | None:
    """Also one that may not be used, or not yet: the order says why."""
    own: OwnVoice | None = next(
        (voice for voice in served.every_own if voice.label == reference.label), None
    )
    return None if own is None else own.name
