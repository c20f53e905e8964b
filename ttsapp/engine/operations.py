"""What operators do with engines: audited with what the engine says it was before and is after."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone

from gpu_engine.proto.engine_pb2 import (
    DrainResponse,
    KeepVoiceRequest,
    KeepVoiceResponse,
    TraceResponse,
    Voice,
)
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.engine.client import client
from ttsapp.engine.connection import Engine
from ttsapp.errors import ApiError, invalid
from ttsapp.voices import artifacts
from ttsapp.voices.own import OwnVoice
from ttsapp.voices.selectors import artifacts_of, labels_of_all, voice_of_any

TRACE_SECONDS = 10
SHORTEST_TRACE, LONGEST_TRACE = 1, 30


class Keep(StrEnum):
    """What may be done about a voice."""

    PIN = "pin"
    UNPIN = "unpin"
    UNLOAD = "unload"


_ACTS = {
    Keep.PIN: (KeepVoiceRequest.ACT_PIN, Action.VOICE_PINNED),
    Keep.UNPIN: (KeepVoiceRequest.ACT_UNPIN, Action.VOICE_UNPINNED),
    Keep.UNLOAD: (KeepVoiceRequest.ACT_UNLOAD, Action.VOICE_UNLOADED),
}


@dataclass(frozen=True, slots=True)
class Trace:
    """`content`: Chrome's trace event format, gzip; Perfetto opens it."""

    name: str
    content: bytes


def drain(actor: Actor, number: int, drained: bool, reason: str) -> DrainResponse:
    """Has the engine of that number take no new work, or take it again. Raises ApiError."""
    engine_id, answer = async_to_sync(_drain)(number, drained)
    action = Action.ENGINE_DRAINED if drained else Action.ENGINE_UNDRAINED
    changes = {"drained": (answer.was_drained, answer.drained)}
    _record(actor, action, engine_id, reason, changes=changes, streams=answer.streams)
    return answer


def keep_voice(actor: Actor, number: int, name: str, keep: Keep, reason: str) -> KeepVoiceResponse:
    """`name`: a preset of the engine's, or the id of a tenant's voice; one that is deleted, too,
    where it is not to stay. Raises ApiError, on `voice` where it is none."""
    label = labels_of_all([name]).get(name)
    is_pin = keep is Keep.PIN
    own, known = (voice_of_any(name), []) if is_pin else (None, artifacts_of(name))
    if own is not None and own.refusal:
        message = f"The speaker's consent for this voice is {own.refusal}: it may not be used."
        raise ApiError(409, f"consent_{own.refusal}", message, field="voice")
    wanted = KeepVoiceRequest(
        id=name, name=(label or name)[:200], act=_ACTS[keep][0], artifacts=known
    )
    is_tenants = label is not None and not is_pin
    engine_id, answer = async_to_sync(_keep)(number, wanted, own, is_tenants)
    names = ("pinned", "entries", "bytes")
    changes = {each: (getattr(answer.before, each), getattr(answer.after, each)) for each in names}
    about = {"voice": name, "name": label or name}
    _record(actor, _ACTS[keep][1], engine_id, reason, changes=changes, **about)
    return answer


def trace(actor: Actor, number: int, seconds: int, reason: str) -> Trace:
    """What the engine's loop does for that long, from now on; no text is in it. Raises ApiError."""
    engine_id, answer = async_to_sync(_trace)(number, seconds)
    about = {"seconds": seconds, "jobs": answer.jobs, "is_cut": answer.is_cut}
    _record(actor, Action.ENGINE_TRACED, engine_id, reason, **about)
    safe = "".join(each if each.isalnum() or each in "-_." else "-" for each in engine_id)
    name = f"trace-{safe}-{timezone.now():%Y%m%dT%H%M%SZ}.json.gz"
    return Trace(name, answer.json_gz)


@transaction.atomic
def _record(actor: Actor, action: Action, engine_id: str, reason: str, **about: object) -> None:
    """After the act: only the engine knows what it was before, and no other process has a say."""
    record(actor, action, None, engine_id, reason=reason, **about)  # type: ignore[arg-type]


async def _drain(number: int, drained: bool) -> tuple[str, DrainResponse]:
    engine = client().engine(number)
    return await _id_of(engine), await engine.drain(drained)


async def _trace(number: int, seconds: int) -> tuple[str, TraceResponse]:
    engine = client().engine(number)
    return await _id_of(engine), await engine.trace(seconds)


async def _keep(
    number: int, wanted: KeepVoiceRequest, own: OwnVoice | None, is_tenants: bool
) -> tuple[str, KeepVoiceResponse]:
    """A tenant's voice is let go of by its ids: there need be nothing else of it any more."""
    engine = client().engine(number)
    status = await engine.status()
    is_pinned = any(held.id == wanted.id for held in status.pinned)
    if not is_tenants and (wanted.act == KeepVoiceRequest.ACT_PIN or not is_pinned):
        wanted.model, voice = await _voice(engine, wanted.id, own)
        wanted.voice.CopyFrom(voice)
    return status.engine_id, await engine.keep_voice(wanted)


async def _voice(engine: Engine, name: str, own: OwnVoice | None) -> tuple[str, Voice]:
    """The engine itself says whether it has a tenant's voice's model."""
    if own is not None:
        await artifacts.warm(own.artifact)
        return own.model, own.to_engine()
    models = await engine.models()
    for model in models:
        for preset in model.presets:
            if preset.name.casefold() == name.casefold():
                return model.id, Voice(preset=preset.name)
    offered = ", ".join(preset.name for model in models for preset in model.presets)
    message = f"The engine has no voice {name[:50]!r}: name a voice by its id"
    raise invalid(f"{message}, or one of {offered}." if offered else f"{message}.", "voice")


async def _id_of(engine: Engine) -> str:
    return (await engine.status()).engine_id


async def presets() -> list[tuple[str, ...]]:
    """Of each engine, in the order of the setting; none of one that is away."""
    engines = client().engines
    asked = await asyncio.gather(*(each.models() for each in engines), return_exceptions=True)
    return [
        tuple(preset.name for model in models for preset in model.presets)
        if isinstance(models, list)
        else ()
        for models in asked
    ]
