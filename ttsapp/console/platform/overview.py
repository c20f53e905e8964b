"""The installation at a glance: is audio late and why, how full are the engines, what does it
cost."""

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

from billing.costs.figures import Figures
from billing.costs.report import by_day, in_other_currencies, total
from billing.costs.selectors import busy_by_hour
from billing.prices.selectors import sold_by_day
from billing.rollups import selectors as rollups
from billing.templatetags.money import about, percent
from ttsapp.alerts import selectors as alerts
from ttsapp.alerts.models import TROUBLE
from ttsapp.console import charts
from ttsapp.console.access import platform_page
from ttsapp.console.live import cells, kept
from ttsapp.console.live.sampler import Snapshot, look
from ttsapp.console.live.verdict import Heard, Rules, Verdict, judge
from ttsapp.console.models import SpokenHour
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole

MINUTES = 60


@dataclass(frozen=True, slots=True)
class Hour:
    """`busy`: share of the engines' time at work; `first_audio` is None where there was none."""

    start: datetime
    requests: int
    failures: int
    characters: int
    audio_seconds: float
    gap_free: float | None
    first_audio: SpokenHour | None = None
    busy: float | None = None

    @property
    def busy_percent(self) -> float | None:
        return None if self.busy is None else 100 * self.busy


@dataclass(frozen=True, slots=True)
class Money:
    """As people read it; None where there is nothing to divide by."""

    per_million: str | None
    per_million_note: str
    revenue: str | None
    revenue_note: str


@require_safe
@platform_page(PlatformPermission.VIEW)
def overview(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    now = timezone.now()
    hours = _hours(now)
    lately = _hour(now - kept.HOUR, rollups.total(now - kept.HOUR, now, kept.MEASURES))
    snapshot = async_to_sync(look)()
    standings = alerts.standings(None)
    content = {
        **cells.snapshot(snapshot),
        "verdict": _verdict(snapshot, lately, standings, now),
        "streams": sum(engine.streams for engine in snapshot.engines),
        "capacity": sum(engine.capacity for engine in snapshot.engines),
        "lately": lately,
        "money": _money(now.date()),
        "hours": hours,
        "characters": _characters(hours),
        "characters_pace": max(each.characters for each in hours) / MINUTES,
        "first_audio": _first_audio(hours),
        "trouble": [each for each in standings if _is_trouble(each)],
    }
    return page(request, role, "overview", content)


def _verdict(
    snapshot: Snapshot, lately: Hour, standings: Sequence[alerts.Standing], now: datetime
) -> Verdict:
    rules = {each.rule.code: each.rule for each in standings}
    heard = Heard(snapshot.waits, lately.requests, lately.gap_free)
    past = kept.past([engine.id for engine in snapshot.engines], now)
    return judge(snapshot.engines, heard, Rules(rules["first_audio"], rules["underruns"]), past)


def _is_trouble(standing: alerts.Standing) -> bool:
    return standing.alert is not None and standing.alert.state in TROUBLE


def _hours(now: datetime) -> list[Hour]:
    """The last 24, the one at hand too: as the worker has noted them, and as they are where it has
    not, or not for good."""
    starts, noted = kept.hours(now), kept.by_hour(now)
    final = {
        start: noted[start] for start in starts if start in noted and kept.is_final(noted[start])
    }
    since = next(start for start in starts if start not in final)
    sums = {row["start"]: row for row in rollups.sums(since, now, kept.MEASURES, interval="hour")}
    busy = busy_by_hour(starts[0])
    return [
        _hour(start, _sums(final.get(start), sums.get(start)), noted.get(start), busy.get(start))
        for start in starts
    ]


def _sums(final: SpokenHour | None, row: dict[str, Any] | None) -> dict[str, Any]:
    if final is not None:
        return {name: getattr(final, name) for name in kept.MEASURES}
    return row or dict.fromkeys(kept.MEASURES, 0)


def _hour(
    start: datetime,
    row: dict[str, Any],
    noted: SpokenHour | None = None,
    busy: float | None = None,
) -> Hour:
    requests = row["requests"]
    return Hour(
        start=start,
        requests=requests,
        failures=row["failures"],
        characters=row["billed_characters"],
        audio_seconds=row["audio_ms"] / 1000,
        gap_free=100 * (requests - row["interrupted"]) / requests if requests else None,
        first_audio=noted if noted is not None and noted.p50 is not None else None,
        busy=busy,
    )


def _money(today: date) -> Money:
    """Today beside the seven days before it, and the month so far."""
    week, month = today - timedelta(days=7), today.replace(day=1)
    days = by_day(min(week, month), today + timedelta(days=1))
    now = total(each.figures for each in days if each.day == today)
    before = total(each.figures for each in days if week <= each.day < today)
    so_far = total(each.figures for each in days if each.day >= month)
    return Money(
        per_million=_text(now.cost_per_million),
        per_million_note=_cost_note(now, before),
        revenue=_text(so_far.revenue),
        revenue_note=_revenue_note(so_far, month, today),
    )


def _cost_note(now: Figures, before: Figures) -> str:
    """Beside the week before; why there is no figure where there is none."""
    if before.cost_per_million is not None:
        return f"{_text(before.cost_per_million)} over the 7 days before"
    if now.cost_per_million is not None:
        return "no cost is known of the 7 days before"
    if not now.characters:
        return "nothing spoken today"
    return "no price of engine hours" if now.unpriced else "no engine's hours noted yet"


def _revenue_note(so_far: Figures, month: date, today: date) -> str:
    if so_far.margin is not None:
        return f"margin {percent(so_far.margin)}"
    if so_far.revenue is not None:
        return "no margin without revenue and a known cost"
    sold = sold_by_day(month, today + timedelta(days=1))
    if others := in_other_currencies(sold):
        amounts = ", ".join(about(micros, currency) for currency, micros in others.items())
        return f"sold in other currencies: {amounts}"
    return "no price book held for what was spoken" if sold else "not added up yet"


def _text(micros: Fraction | None) -> str | None:
    return None if micros is None else about(micros, settings.CURRENCY)


def _characters(hours: Sequence[Hour]) -> charts.Chart:
    values = [each.characters for each in hours]
    titles = [
        f"{each.start:%H:%M} UTC: {each.characters:,} characters,"
        f" {each.characters / MINUTES:,.1f} a minute"
        + ("" if each.busy is None else f", engines busy {each.busy:.0%}")
        for each in hours
    ]
    return charts.chart(values, titles, line=[each.busy for each in hours])


def _first_audio(hours: Sequence[Hour]) -> charts.Chart:
    """Medians before 95th percentiles, and a line of the 99th."""
    timed = [each.first_audio for each in hours]
    titles = [
        f"{each.start:%H:%M} UTC: "
        + (
            f"half within {found.p50:,} ms, 95 % within {found.p95:,} ms, 99 % within"
            f" {found.p99:,} ms"
            if found
            else "nothing"
        )
        for each, found in zip(hours, timed, strict=True)
    ]
    medians = [found.p50 or 0 if found else 0 for found in timed]
    slow, slowest = (
        [getattr(found, name) or 0 if found else 0 for found in timed] for name in ("p95", "p99")
    )
    return charts.chart(medians, titles, slow, above=slowest)
