"""Usage by day and by key, on the page and as CSV."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from billing import reports
from billing.prices.selectors import Sold, sold_to
from billing.reports import KeyUse, Period, Used
from ttsapp.console import charts
from ttsapp.console.access import member_page
from ttsapp.console.files import csv_file
from ttsapp.console.periods import PeriodForm
from ttsapp.console.shell import page
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices.selectors import labels

HEADER = (
    "day",
    "key_name",
    "key_id",
    "requests",
    "characters",
    "characters_charged",
    "audio_seconds",
    "failures",
)
# To who may see bills.
PAID_HEADER = ("characters_topped_up",)


@require_safe
@member_page(Permission.VIEW)
def usage(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = PeriodForm(request.GET)
    if not form.is_valid():
        return page(request, membership, "usage", {"form": form}, status=400)
    since, until = form.whole_start(), form.whole_end()
    tenant = membership.tenant
    days = reports.by_day(tenant, since, until)
    voices = reports.by_part(tenant, since, until, "voice")
    named = labels(tenant.pk, (voice for voice, _ in voices))
    prices = _prices(membership, since.date(), until.date())
    content = {
        "form": form,
        "since": since,
        "last": days[-1].start if days else since,
        "total": reports.between(tenant, since, until),
        "days": [(day, prices.get(day.start.date())) for day in days],
        "has_prices": bool(prices),
        "sold": _sums(prices.values()),
        "chart": _chart(days),
        "by_key": reports.by_key(tenant, since, until),
        "by_voice": [(named.get(voice, voice), used) for voice, used in voices],
        "by_model": reports.by_part(tenant, since, until, "model"),
    }
    return page(request, membership, "usage", content)


@require_safe
@member_page(Permission.VIEW)
def usage_csv(request: HttpRequest, membership: Membership) -> HttpResponse:
    """One row a day and key; times are UTC."""
    form = PeriodForm(request.GET)
    if not form.is_valid():
        return page(request, membership, "usage", {"form": form}, status=400)
    since, until = form.whole_start(), form.whole_end()
    found = reports.by_day_and_key(membership.tenant, since, until)
    header: tuple[str, ...] = HEADER
    rows = map(_line, found)
    if membership.may(Permission.VIEW_BILLING):
        header, rows = HEADER + PAID_HEADER, map(_paid_line, found)
    return csv_file(header, rows, f"usage-{membership.tenant.slug}-{since:%Y-%m-%d}.csv")


def _prices(membership: Membership, since: date, until: date) -> dict[date, Sold]:
    """By day, to who may see bills: a tenant's month has one currency."""
    if not membership.may(Permission.VIEW_BILLING):
        return {}
    return {each.day: each for each in sold_to(membership.tenant_id, since, until)}


def _sums(prices: Iterable[Sold]) -> list[tuple[int, str]]:
    """Micros, by currency."""
    found: defaultdict[str, int] = defaultdict(int)
    for each in prices:
        found[each.currency] += each.micros
    return [(micros, currency) for currency, micros in sorted(found.items())]


def _line(row: KeyUse) -> tuple[object, ...]:
    day = f"{row.day:%Y-%m-%d}" if row.day else ""
    return (day, row.name, row.public_id, *_figures(row.used))


def _paid_line(row: KeyUse) -> tuple[object, ...]:
    return (*_line(row), row.used.topped_up)


def _figures(used: Used) -> tuple[object, ...]:
    seconds = f"{used.audio_seconds:.3f}"
    return used.requests, used.characters, used.charged, seconds, used.failures


def _chart(days: Sequence[Period]) -> charts.Chart:
    values = [day.used.charged for day in days]
    return charts.chart(
        values, [f"{day.start:%Y-%m-%d}: {day.used.charged:,} characters" for day in days]
    )
