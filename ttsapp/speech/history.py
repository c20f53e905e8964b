"""Finding requests in a tenant's log, and how quickly they were answered."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import TruncHour

from billing.models import UsageEvent
from billing.rating import Outcome
from billing.statements import read_rows
from ttsapp import ids
from ttsapp.keys.models import ApiKey
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
MOST_FAILURES = 1000


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
    found = _lines(tenant)
    if search.ended:
        found = found.filter(ENDINGS[search.ended])
    if search.key:
        found = found.filter(key=_key(tenant, search.key))
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
    return _lines(tenant).filter(wanted)[:count]


@dataclass(frozen=True, slots=True)
class Failure:
    """`code`: the public one."""

    at: datetime
    code: str


def last_failures(since: datetime) -> dict[str, Failure]:
    """By engine, the newest request since then that failed by no doing of its client: of every
    tenant, for who runs the engines."""
    found = UsageEvent.objects.filter(pk__gte=ids.lowest(since), outcome=Outcome.FAILED.value)
    newest: dict[str, UUID] = {}
    for pk, engine in found.exclude(engine="").values_list("pk", "engine")[:MOST_FAILURES]:
        newest.setdefault(engine, pk)
    logs = RequestLog.objects.defer("timeline", "asked").in_bulk(newest.values())
    return {
        engine: Failure(logs[pk].at, logs[pk].error_code or logs[pk].ended)
        for engine, pk in newest.items()
        if pk in logs
    }


def turned_away(tenant: Tenant, since: datetime) -> int:
    """By a limit, 1,000 at most."""
    found = RequestLog.objects.filter(tenant=tenant, pk__gte=ids.lowest(since), status=429)
    return found[:1000].count()


def first_audio(
    tenant: Tenant, since: datetime
) -> tuple[FirstAudio | None, dict[datetime, FirstAudio]]:
    """Over all requests since then (the newest 5,000 of them), and by the hour they began in."""
    timed = RequestLog.objects.filter(
        tenant=tenant, pk__gte=ids.lowest(since), first_audio_ms__isnull=False
    )
    hours: defaultdict[datetime, list[int]] = defaultdict(list)
    by_hour = timed.annotate(hour=TruncHour("at", tzinfo=UTC))
    for hour, milliseconds in read_rows(by_hour.values_list("hour", "first_audio_ms")[:MOST_TIMED]):
        hours[hour].append(milliseconds)
    every = [milliseconds for hour in hours.values() for milliseconds in hour]
    return (_summary(every) if every else None), {at: _summary(ms) for at, ms in hours.items()}


def first_audio_of_all(
    since: datetime, until: datetime | None = None, most: int = MOST_TIMED
) -> FirstAudio | None:
    """The newest since then, of every tenant: for who runs the engines."""
    timed = RequestLog.objects.filter(pk__gte=ids.lowest(since), first_audio_ms__isnull=False)
    if until is not None:
        timed = timed.filter(pk__lt=ids.lowest(until))
    found = timed.values_list("first_audio_ms", flat=True)[:most]
    values = [milliseconds for milliseconds in found if milliseconds is not None]
    return _summary(values) if values else None


def percentile(values: list[int], share: float) -> int:
    """The smallest value that at least that share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def _lines(tenant: Tenant) -> QuerySet[RequestLog]:
    """As lists show them, which need nothing of how each was made."""
    found = RequestLog.objects.filter(tenant=tenant).select_related("key")
    return found.defer("timeline", "asked")


def _summary(values: list[int]) -> FirstAudio:
    p50, p95, p99 = (percentile(values, share) for share in (0.5, 0.95, 0.99))
    return FirstAudio(len(values), p50, p95, p99)


def _key(tenant: Tenant, public_id: str) -> int | None:
    """Looked up first: as a condition on another table Postgres reads the tenant's whole log. 0 is
    nobody's."""
    if public_id == "console":
        return None
    found = ApiKey.objects.filter(tenant=tenant, public_id=public_id)
    return found.values_list("pk", flat=True).first() or 0
