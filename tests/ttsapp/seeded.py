"""A tenant's last weeks in ledger and log, made through the services that write them."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from billing.models import UsageEvent
from billing.rating import Outcome
from billing.services import Metered, Usage, settle
from billing.upkeep.guard import opened
from ttsapp import ids
from ttsapp.keys.models import ApiKey
from ttsapp.speech.models import RequestLog
from ttsapp.speech.timeline import Chunk, Timeline
from ttsapp.tenants.models import Tenant

RAMP = (1, 2, 4, 8, 16)
ENDS = ("stop",) * 17 + ("cancelled", "error", "refused")


def use(
    tenant: Tenant,
    key: ApiKey | None,
    at: datetime,
    ended: str = "stop",
    characters: int = 100,
    charged: int | None = None,
    first_audio_ms: int | None = 140,
    audio_ms: int = 6000,
    timeline: Timeline | None = None,
) -> UUID:
    """One request that arrived then; its id."""
    request = UUID(int=ids.lowest(at).int | random.getrandbits(62))
    if charged is None:
        charged = {"stop": characters, "length": characters, "cancelled": characters // 2}.get(
            ended, 0
        )
    is_refused = ended == "refused"
    if not is_refused:
        outcome = {"cancelled": Outcome.CANCELLED, "error": Outcome.FAILED}.get(
            ended, Outcome.COMPLETED
        )
        metered = Metered(request, tenant.pk, key.pk if key else None, "parlance-tiny", "anna")
        late = sum(chunk.is_late for chunk in timeline.chunks) if timeline else 0
        used = Usage(outcome, characters, charged, audio_ms, audio_ms // 80, 30, underruns=late)
        settle(metered, used)
        with opened():
            UsageEvent.objects.filter(pk=request).update(started_at=at)
    codes = {"error": ("engine_unavailable", 503), "refused": ("unknown_voice", 400)}
    code, status = codes.get(ended, ("", 200))
    RequestLog.objects.create(
        id=request,
        tenant=tenant,
        key=key,
        at=at,
        transport="http",
        status=status,
        model="" if is_refused else "parlance-tiny",
        voice="" if is_refused else "anna",
        response_format="" if is_refused else "mp3",
        seed=None if is_refused else 42,
        characters=0 if is_refused else characters,
        audio_ms=0 if is_refused else audio_ms,
        first_audio_ms=None if is_refused else first_audio_ms,
        total_ms=5 if is_refused else _total_ms(audio_ms, timeline),
        finish_reason="" if is_refused else ended,
        error_code=code,
        error_field="voice" if is_refused else "",
        timeline=None if is_refused or timeline is None else timeline.pack(),
    )
    return request


def _total_ms(audio_ms: int, timeline: Timeline | None) -> int:
    return timeline.chunks[-1].came_ms + 3 if timeline else audio_ms // 3


def paced(first_audio_ms: int, audio_ms: int) -> Timeline:
    """As an engine does: larger and larger chunks, at three times real time."""
    chunks: list[Chunk] = []
    at, came = 0, float(first_audio_ms)
    while at < audio_ms:
        length = min(80 * RAMP[min(len(chunks), len(RAMP) - 1)], audio_ms - at)
        chunks.append(Chunk(round(came), at, length))
        at, came = at + length, came + 0.3 * length
    return Timeline(first_audio_ms // 20, first_audio_ms // 8, False, tuple(chunks))


def weeks(tenant: Tenant, keys: list[ApiKey], count: int = 600) -> None:
    """The same every time but for the clock: more by day than by night, mostly lately."""
    chance = random.Random(7)
    now = timezone.now()
    for _ in range(count):
        back = timedelta(hours=min(chance.expovariate(1 / 60), 27 * 24))
        characters = chance.randrange(20, 400)
        first_audio_ms = int(chance.lognormvariate(4.9, 0.35))
        use(
            tenant,
            chance.choice(keys),
            now - back,
            chance.choice(ENDS),
            characters,
            first_audio_ms=first_audio_ms,
            audio_ms=65 * characters,
            timeline=paced(first_audio_ms, 65 * characters),
        )
