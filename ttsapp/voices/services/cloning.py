"""From a recording to a voice: looked at, cut, encoded by the engine, kept; or refused with nothing
kept. These wait for the engine, so they belong to the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from ttsapp import database, recent
from ttsapp.audit.services import Actor
from ttsapp.errors import ApiError, invalid
from ttsapp.tenants.models import Tenant
from ttsapp.voices import fields, selectors
from ttsapp.voices.catalogue import SpeechModel, away
from ttsapp.voices.clips.checks import Reference, check
from ttsapp.voices.clips.decoding import decode
from ttsapp.voices.clips.hearing import check_words
from ttsapp.voices.models import Consent, Kind, Voice
from ttsapp.voices.services import encoding, registry, reviews
from ttsapp.voices.services.encoding import Names as Names  # callers find it here
from ttsapp.voices.services.registry import Description, Encoded

# Of an embedding's largest value: what the engine takes, and what is more than nothing there.
LEAST_VALUE, MOST_VALUE = 1e-12, 1e12


async def clone(
    actor: Actor,
    tenant: Tenant,
    said: Description,
    consent_id: str,
    recording: bytes,
    text: str = "",
    *,
    names: Names = encoding.USUAL,
    is_draft: bool = False,
) -> Voice:
    """A voice like the recording's; with what is said in it, of its manner too. Raises ApiError."""
    consent = await agreed(tenant, consent_id, names.consent)
    words = fields.line(text, names.text, fields.TEXT_LENGTH, is_required=False)
    model = await _maker(in_context=bool(words))
    model.language(said.language, names.language)
    await check_place(tenant, said.name)
    reference = await referenced(recording, words, names, tenant.pk)
    encoded = await encoding.encode(model, reference, words, names)
    kind = Kind.IN_CONTEXT if words else Kind.X_VECTOR
    return await keep(actor, tenant, kind, said, encoded, consent, is_draft=is_draft)


async def embed(
    actor: Actor,
    tenant: Tenant,
    said: Description,
    consent_id: str,
    values: Sequence[float],
    *,
    names: Names = encoding.OF_EMBEDDINGS,
) -> Voice:
    """A voice from a speaker embedding that was made elsewhere, for the model that is served."""
    consent = await agreed(tenant, consent_id, names.consent)
    model = await _maker(in_context=False)
    model.language(said.language, names.language)
    await check_place(tenant, said.name)
    _check_embedding(model, values, names.recording)
    encoded = await encoding.embed(model, values, names)
    return await keep(actor, tenant, Kind.X_VECTOR, said, encoded, consent)


async def renew(actor: Actor, voice: Voice, recording: bytes, text: str, names: Names) -> None:
    """Another recording for a voice: its next version. Raises ApiError."""
    if voice.consent is not None:
        registry.check_consent(voice.consent)
    await database.read(reviews.check_renewal, actor, voice)
    words = fields.line(text, names.text, fields.TEXT_LENGTH, is_required=False)
    model = await _maker(in_context=bool(words))
    reference = await referenced(recording, words, names, voice.tenant_id)
    encoded = await encoding.encode(model, reference, words, names)
    await encoding.kept(partial(registry.add_version, actor, voice, encoded), encoded)


async def referenced(recording: bytes, text: str, names: Names, tenant_id: int) -> Reference:
    """The stretch of it that is used. Raises ApiError 400 or 413."""
    decoded = await decode(recording, names.recording, tenant_id)
    found = await asyncio.to_thread(check, decoded, text, names.recording, names.text)
    if text and (note := await check_words(found.samples, text, names.text)):
        found.report["notes"].append(note)
    return found


async def keep(
    actor: Actor,
    tenant: Tenant,
    kind: Kind,
    said: Description,
    encoded: Encoded,
    consent: Consent | None,
    *,
    is_draft: bool = False,
) -> Voice:
    """Returns when every process knows the voice: whoever has its id can speak with it at once,
    through whichever."""
    create = partial(
        registry.create_voice, actor, tenant, kind, said, encoded, consent, is_draft=is_draft
    )
    voice = await encoding.kept(create, encoded)
    await asyncio.sleep(recent.FRESH_SECONDS)
    return voice


async def agreed(tenant: Tenant, public_id: str, field: str) -> Consent:
    """The consent; asked for before anything is fetched or looked at. Raises ApiError 400 without
    one, 403 for one that has ended."""
    if not public_id:
        message = (
            f"{field} is required: no voice is cloned without its speaker's consent. Record one "
            "with POST /v1/audio/voice_consents or in the console, and send its id."
        )
        raise invalid(message, field, "consent_required")
    consent = await database.read(selectors.consent_of, tenant.pk, public_id)
    if consent is None:
        message = f"There is no consent {public_id[:50]!r} in this account: record one first."
        raise invalid(message, field, "unknown_consent")
    registry.check_consent(consent)
    return consent


async def check_name(name: str, before: str = "") -> None:
    """Raises ApiError 409 for another name than before that a voice could not be asked for by."""
    if name != before and name.casefold() in (await selectors.catalogue()).taken():
        raise registry.name_taken()


async def check_language(language: str, before: str) -> None:
    """Raises ApiError 400 for another language than before that no clone is spoken in."""
    model = (await selectors.catalogue()).maker(in_context=False)
    if model is not None and language != before:
        model.language(language)


async def check_place(tenant: Tenant, name: str) -> None:
    """Raises ApiError 409 before anything is encoded that could not be kept under this name."""
    await check_name(name)
    await database.read(registry.check_room, tenant, name)


async def _maker(*, in_context: bool) -> SpeechModel:
    served = await selectors.catalogue()
    model = served.maker(in_context=in_context)
    if model is None and served.lacks_some:
        raise away(None)
    if model is None:
        what = "with what is said in it" if in_context else "from recordings"
        message = f"No engine here can clone a voice {what}: a checkpoint of kind base is needed."
        raise ApiError(400, "cloning_not_served", message)
    return model


def _check_embedding(model: SpeechModel, values: Sequence[float], field: str) -> None:
    """Before the engine: what it would refuse, under the field's own name."""
    if len(values) != model.embedding_size:
        message = (
            f"{field} has {len(values)} values; the model {model.id!r} takes "
            f"{model.embedding_size}."
        )
        raise invalid(message, field, "wrong_dimension")
    sizes = [abs(value) for value in values]
    if not all(size <= MOST_VALUE for size in sizes) or max(sizes) < LEAST_VALUE:
        message = (
            f"{field} must be numbers from -{MOST_VALUE:g} to {MOST_VALUE:g}, not all zero: send "
            "the embedding as its encoder gave it."
        )
        raise invalid(message, field)
