"""How the tenant's speech fares now, today and over the last 24 hours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from billing import reports
from billing.budgets import budget
from billing.reports import Period, Used
from ttsapp.alerts.selectors import standings
from ttsapp.console import charts
from ttsapp.console.access import member_page
from ttsapp.console.live.verdict import Heard, Rules, Verdict, judge_own
from ttsapp.console.periods import month, today
from ttsapp.console.shell import page
from ttsapp.engine.client import AWAY, client
from ttsapp.errors import ApiError
from ttsapp.speech import history
from ttsapp.speech.history import FirstAudio
from ttsapp.tenants.models import Membership, Permission, Tenant
from ttsapp.voices.selectors import catalogue

HOURS, HOUR, DAY = 24, timedelta(hours=1), timedelta(days=1)
FAILURES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of the charts and of the table under them."""

    start: datetime
    used: Used
    first_audio: FirstAudio | None


@dataclass(frozen=True, slots=True)
class Engine:
    """What a tenant may know of the engine: whether it serves, and what. Nothing of its load."""

    state: str
    models: tuple[str, ...]
    takes_streams: bool = False


@require_safe
@member_page(Permission.VIEW)
def overview(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    now = timezone.now()
    since = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)
    answered, by_hour = history.first_audio(tenant, since)
    two_days = reports.by_hour(tenant, min(since, today() - DAY), now)
    periods = two_days[-HOURS:]
    hours = [Hour(each.start, each.used, by_hour.get(each.start)) for each in periods]
    engine = async_to_sync(_engine)()
    used_today = _sum(each for each in two_days if each.start >= today())
    before = reports.between(tenant, month(), today()).charged
    content = {
        "engine": engine,
        "verdict": _verdict(tenant, engine, hours, now),
        "budget": budget(tenant, before + used_today.charged),
        "today": used_today,
        "yesterday": _yesterday(tenant, two_days, now),
        "answered": answered,
        "hours": hours,
        "characters": _characters(periods),
        "waits": _waits(hours),
        "failures": history.failed(tenant, FAILURES_SHOWN),
    }
    return page(request, membership, "overview", content)


def _verdict(tenant: Tenant, engine: Engine, hours: Sequence[Hour], now: datetime) -> Verdict:
    rules = {each.rule.code: each.rule for each in standings(None)}
    # The hour at hand has often just begun.
    lately = hours[-1] if hours[-1].first_audio else hours[-2]
    used = hours[-1].used + hours[-2].used
    gap_free = 100 * (used.requests - used.interrupted) / used.requests if used.requests else None
    heard = Heard(
        lately.first_audio,
        used.requests,
        gap_free,
        f"the hour from {lately.start:%H:%M} UTC",
        "two hours",
    )
    away = history.turned_away(tenant, now - HOUR)
    both = Rules(rules["first_audio"], rules["underruns"])
    return judge_own(engine.state, engine.takes_streams, heard, both, away)


def _yesterday(tenant: Tenant, periods: Sequence[Period], now: datetime) -> Used:
    """By the same time of day: whole hours, and what began in the last of them until then."""
    until = now - DAY
    hour = until.replace(minute=0, second=0, microsecond=0)
    whole = _sum(each for each in periods if today() - DAY <= each.start < hour)
    return whole + reports.between(tenant, hour, until)


def _sum(periods: Iterable[Period]) -> Used:
    return sum((each.used for each in periods), Used())


def _characters(periods: Sequence[Period]) -> charts.Chart:
    values = [each.used.charged for each in periods]
    titles = [f"{each.start:%H:%M} UTC: {each.used.charged:,} characters" for each in periods]
    return charts.chart(values, titles)


def _waits(hours: Sequence[Hour]) -> charts.Chart:
    """Medians before 95th percentiles."""
    medians = [each.first_audio.p50 if each.first_audio else 0 for each in hours]
    slow = [each.first_audio.p95 if each.first_audio else 0 for each in hours]
    titles = [
        f"{each.start:%H:%M} UTC: half within {median} ms, 95 % within {late} ms"
        for each, median, late in zip(hours, medians, slow, strict=True)
    ]
    return charts.chart(medians, titles, slow)


async def _engine() -> Engine:
    standing = await client().standing()
    try:
        models = tuple(model.id for model in (await catalogue()).models)
    except ApiError:
        return Engine(AWAY, ())
    served = models if standing.state != AWAY else ()
    return Engine(standing.state, served, standing.takes_streams)
