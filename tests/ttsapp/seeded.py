"""A tenant's last weeks in ledger and log, made through the services that write them."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from billing.models import UsageEvent
from billing.rating import Outcome
from billing.services import Metered, Usage, settle
from ttsapp import ids
from ttsapp.keys.models import ApiKey
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Tenant

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
        settle(metered, Usage(outcome, characters, charged, audio_ms, audio_ms // 80, 30))
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
        total_ms=5 if is_refused else audio_ms // 3,
        finish_reason="" if is_refused else ended,
        error_code=code,
        error_field="voice" if is_refused else "",
    )
    return request


def weeks(tenant: Tenant, keys: list[ApiKey], count: int = 600) -> None:
    """The same every time but for the clock: more by day than by night, mostly lately."""
    chance = random.Random(7)
    now = timezone.now()
    for _ in range(count):
        back = timedelta(hours=min(chance.expovariate(1 / 60), 27 * 24))
        characters = chance.randrange(20, 400)
        use(
            tenant,
            chance.choice(keys),
            now - back,
            chance.choice(ENDS),
            characters,
            first_audio_ms=int(chance.lognormvariate(4.9, 0.35)),
            audio_ms=65 * characters,
        )
