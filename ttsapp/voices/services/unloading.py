"""A deleted voice leaves every engine's memory, pins included; the audit log says what each held.

An engine is told twice: at once, and again when no web process can have begun a stream in the voice
any more. One that is away is told when it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gpu_engine.proto.engine_pb2 import HeldVoice, KeepVoiceRequest
from ttsapp import database
from ttsapp.audit.actions import Action
from ttsapp.audit.services import SYSTEM, record
from ttsapp.engine.client import client
from ttsapp.engine.connection import Engine
from ttsapp.errors import ApiError
from ttsapp.voices import artifacts, selectors
from ttsapp.voices.models import Removal

log = structlog.get_logger()

# Requests of half a second ago know of no deletion, and take a moment to reach an engine.
SETTLED = timedelta(seconds=2)
# Web processes count them to see that there was a deletion.
KEPT = timedelta(days=1)
Answers = Mapping[str, Mapping[str, Any]]


async def unload_deleted() -> int:
    """Returns how many voices are out of every engine now."""
    under_way = await database.read(selectors.removals_under_way)
    return sum([await _unload(removal) for removal in under_way])


def prune() -> int:
    """Those that are done with."""
    return Removal.objects.filter(done_at__lt=timezone.now() - KEPT).delete()[0]


async def _unload(removal: Removal) -> bool:
    asked_at = timezone.now()
    unused = await database.read(selectors.unused, removal.artifacts)
    # The worker's own memory: it looks at no deletions otherwise.
    artifacts.cache.forget(*unused)
    engines = client().engines
    request = KeepVoiceRequest(
        id=removal.voice.public_id, artifacts=unused, act=KeepVoiceRequest.ACT_UNLOAD
    )
    found = await asyncio.gather(*(_told(engine, request) for engine in engines))
    answers = {
        engine.target: answer
        for engine, answer in zip(engines, found, strict=True)
        if answer is not None
    }
    is_last = asked_at - removal.created_at >= SETTLED and len(answers) == len(engines)
    return await database.write(_note, removal, answers, unused, is_last)


async def _told(engine: Engine, request: KeepVoiceRequest) -> dict[str, Any] | None:
    """None while the engine is away."""
    try:
        answer = await engine.keep_voice(request)
    except ApiError as error:
        log.warning(
            "a deleted voice is still to be unloaded",
            voice=request.id,
            engine=engine.target,
            why=error.code,
        )
        return None
    return {"before": _plain(answer.before), "after": _plain(answer.after)}


def _plain(held: HeldVoice) -> dict[str, Any]:
    return {"pinned": held.pinned, "entries": held.entries, "bytes": held.bytes}


@transaction.atomic
def _note(removal: Removal, answers: Answers, unused: list[str], is_last: bool) -> bool:
    """What was held counts from the first answer on. Whether it is done with."""
    locked = Removal.objects.select_for_update().get(pk=removal.pk)
    if locked.done_at is not None:
        return False
    for target, answer in answers.items():
        before = locked.told.get(target, answer)["before"]
        locked.told[target] = {"before": before, "after": answer["after"]}
    locked.done_at = timezone.now() if is_last else None
    locked.save(update_fields=["told", "done_at"])
    if is_last:
        voice = removal.voice
        told = [
            {"engine": place, **locked.told[target]}
            for place, target in enumerate(settings.ENGINES, 1)
            if target in locked.told
        ]
        about = {"artifacts": unused, "engines": told}
        record(SYSTEM, Action.VOICE_FORGOTTEN, voice.tenant, voice.public_id, **about)  # type: ignore[arg-type]
    return is_last
