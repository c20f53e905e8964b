"""How the tenant's speech fares now, today and over the last 24 hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from billing import reports
from billing.reports import Period, Used
from gpu_engine.proto import engine_pb2
from ttsapp.console import charts
from ttsapp.console.access import member_page
from ttsapp.console.periods import today
from ttsapp.console.shell import page
from ttsapp.engine.client import client
from ttsapp.errors import ApiError
from ttsapp.speech import history
from ttsapp.speech.history import FirstAudio
from ttsapp.tenants.models import Membership, Permission, Tenant
from ttsapp.voices.selectors import catalogue

HOURS = 24
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


@require_safe
@member_page(Permission.VIEW)
def overview(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    now = timezone.now()
    since = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)
    answered, by_hour = history.first_audio(tenant, since)
    periods = reports.by_hour(tenant, since, now)
    hours = [Hour(each.start, each.used, by_hour.get(each.start)) for each in periods]
    content = {
        "engine": async_to_sync(_engine)(),
        "today": reports.between(tenant, today(), now),
        "yesterday": _yesterday(tenant, now),
        "answered": answered,
        "hours": hours,
        "characters": _characters(periods),
        "waits": _waits(hours),
        "failures": history.failed(tenant, FAILURES_SHOWN),
    }
    return page(request, membership, "overview", content)


def _yesterday(tenant: Tenant, now: datetime) -> Used:
    """By the same time of day."""
    day = timedelta(days=1)
    return reports.between(tenant, today() - day, now - day)


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
    try:
        status = await client().status()
        models = tuple(model.id for model in (await catalogue()).models)
    except ApiError:
        return Engine("away", ())
    name = engine_pb2.EngineStatus.State.Name(status.state)
    return Engine(name.removeprefix("STATE_").lower(), models)
