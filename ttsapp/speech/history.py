"""Finding requests in a tenant's log, and how quickly they were answered."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from ttsapp import ids
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Tenant

# How a request ended, in the words of RequestLog.ended.
_BEFORE_AUDIO = Q(finish_reason="")
ENDINGS = {
    "stop": Q(finish_reason="stop"),
    "length": Q(finish_reason="length"),
    "cancelled": Q(finish_reason="cancelled"),
    "error": Q(finish_reason="error") | (_BEFORE_AUDIO & Q(status__gte=500)),
    "refused": _BEFORE_AUDIO & Q(status__lt=500),
}
# Enough for a percentile that means something, few enough to sort for every page.
MOST_TIMED = 5000


@dataclass(frozen=True, slots=True)
class Search:
    """Empty fields ask for nothing. `key`: a public id; `console` for what has no key."""

    ended: str = ""
    key: str = ""
    code: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: UUID | None = None


@dataclass(frozen=True, slots=True)
class FirstAudio:
    """Milliseconds to first audio over some requests."""

    count: int
    p50: int
    p95: int
    p99: int


def find(tenant: Tenant, search: Search) -> QuerySet[RequestLog]:
    """Newest first; `before` is where an earlier page ended."""
    found = RequestLog.objects.filter(tenant=tenant).select_related("key")
    if search.ended:
        found = found.filter(ENDINGS[search.ended])
    if search.key:
        found = found.filter(_of_key(search.key))
    if search.code:
        found = found.filter(error_code=search.code)
    # Ids sort by time, and the index over them serves every range.
    if search.since:
        found = found.filter(pk__gte=ids.lowest(search.since))
    if search.until:
        found = found.filter(pk__lt=ids.lowest(search.until))
    if search.before:
        found = found.filter(pk__lt=search.before)
    return found


def failed(tenant: Tenant, count: int) -> QuerySet[RequestLog]:
    """The newest that we or the caller should look at: refused, failed or run away."""
    wanted = ENDINGS["error"] | ENDINGS["refused"] | ENDINGS["length"]
    return RequestLog.objects.filter(wanted, tenant=tenant).select_related("key")[:count]


def first_audio(
    tenant: Tenant, since: datetime
) -> tuple[FirstAudio | None, dict[datetime, FirstAudio]]:
    """Over all requests since then (the newest 5,000 of them), and by the hour they began in."""
    timed = RequestLog.objects.filter(
        tenant=tenant, pk__gte=ids.lowest(since), first_audio_ms__isnull=False
    )
    hours: defaultdict[datetime, list[int]] = defaultdict(list)
    for at, milliseconds in timed.values_list("at", "first_audio_ms")[:MOST_TIMED]:
        if milliseconds is not None:
            hours[at.replace(minute=0, second=0, microsecond=0)].append(milliseconds)
    every = [milliseconds for hour in hours.values() for milliseconds in hour]
    return (_summary(every) if every else None), {at: _summary(ms) for at, ms in hours.items()}


def first_audio_of_all(since: datetime) -> FirstAudio | None:
    """The newest 5,000 since then, of every tenant: for who runs the engines."""
    timed = RequestLog.objects.filter(pk__gte=ids.lowest(since), first_audio_ms__isnull=False)
    found = timed.values_list("first_audio_ms", flat=True)[:MOST_TIMED]
    values = [milliseconds for milliseconds in found if milliseconds is not None]
    return _summary(values) if values else None


def percentile(values: list[int], share: float) -> int:
    """The smallest value that at least that share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def _summary(values: list[int]) -> FirstAudio:
    p50, p95, p99 = (percentile(values, share) for share in (0.5, 0.95, 0.99))
    return FirstAudio(len(values), p50, p95, p99)


def _of_key(key: str) -> Q:
    return Q(key=None) if key == "console" else Q(key__public_id=key)
