"""The installation at a glance: is audio late, how full are the engines, what does it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from billing.costs.report import totals
from billing.rollups import selectors as rollups
from billing.templatetags.money import about
from ttsapp.alerts import selectors as alerts
from ttsapp.alerts.models import TROUBLE
from ttsapp.console import charts
from ttsapp.console.access import platform_page
from ttsapp.console.live import cells
from ttsapp.console.live.sampler import look
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole

HOURS, HOUR = 24, timedelta(hours=1)
MEASURES = (
    *("requests", "failures", "billed_characters", "audio_ms"),
    *("first_audio_ms", "first_audios", "interrupted"),
)


@dataclass(frozen=True, slots=True)
class Hour:
    """`first_audio`: its mean in ms; None where there was none."""

    start: datetime
    requests: int
    failures: int
    characters: int
    audio_seconds: float
    first_audio: int | None
    gap_free: float | None


@dataclass(frozen=True, slots=True)
class Money:
    """As people read it; None where there is nothing to divide by."""

    per_million: str | None
    per_million_before: str | None
    revenue: str
    margin: str | None


@require_safe
@platform_page(PlatformPermission.VIEW)
def overview(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    now = timezone.now()
    hours = _hours(now)
    lately = _hour(now - HOUR, rollups.total(now - HOUR, now, MEASURES))
    snapshot = async_to_sync(look)()
    content = {
        **cells.snapshot(snapshot),
        "streams": sum(engine.streams for engine in snapshot.engines),
        "capacity": sum(engine.capacity for engine in snapshot.engines),
        "lately": lately,
        "money": _money(now.date()),
        "hours": hours,
        "characters": _characters(hours),
        "first_audio": _first_audio(hours),
        "trouble": [each for each in alerts.standings(None) if _is_trouble(each)],
    }
    return page(request, role, "overview", content)


def _is_trouble(standing: alerts.Standing) -> bool:
    return standing.alert is not None and standing.alert.state in TROUBLE


def _hours(now: datetime) -> list[Hour]:
    """The last 24, the one at hand too; from sums, however many requests there were."""
    first = now.replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * HOUR
    found = rollups.sums(first, now, MEASURES, interval="hour")
    by_start = {row["start"]: row for row in found}
    nothing = dict.fromkeys(MEASURES, 0)
    starts = [first + number * HOUR for number in range(HOURS)]
    return [_hour(start, by_start.get(start, nothing)) for start in starts]


def _hour(start: datetime, row: dict[str, Any]) -> Hour:
    requests, audible = row["requests"], row["first_audios"]
    return Hour(
        start=start,
        requests=requests,
        failures=row["failures"],
        characters=row["billed_characters"],
        audio_seconds=row["audio_ms"] / 1000,
        first_audio=row["first_audio_ms"] // audible if audible else None,
        gap_free=100 * (requests - row["interrupted"]) / requests if requests else None,
    )


def _money(today: date) -> Money:
    """Today beside the seven days before it, and the month so far."""
    tomorrow = today + timedelta(days=1)
    now, before = totals(today, tomorrow), totals(today - timedelta(days=7), today)
    month = totals(today.replace(day=1), tomorrow)
    return Money(
        per_million=_text(now.cost_per_million),
        per_million_before=_text(before.cost_per_million),
        revenue=_text(month.revenue) or "",
        margin=None if month.margin is None else f"{100 * float(month.margin):.0f} %",
    )


def _text(micros: Fraction | None) -> str | None:
    return None if micros is None else about(micros, settings.CURRENCY)


def _characters(hours: Sequence[Hour]) -> charts.Chart:
    values = [each.characters for each in hours]
    titles = [f"{each.start:%H:%M} UTC: {each.characters:,} characters" for each in hours]
    return charts.chart(values, titles)


def _first_audio(hours: Sequence[Hour]) -> charts.Chart:
    values = [each.first_audio or 0 for each in hours]
    titles = [f"{each.start:%H:%M} UTC: {each.first_audio or 'no'} ms" for each in hours]
    return charts.chart(values, titles)
