"""Usage by day and by key, on the page and as CSV."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from billing import reports
from billing.reports import KeyUse, Period, Used
from ttsapp.console import charts
from ttsapp.console.access import member_page
from ttsapp.console.files import csv_file
from ttsapp.console.periods import PeriodForm
from ttsapp.console.shell import page
from ttsapp.tenants.models import Membership, Permission

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


@require_safe
@member_page(Permission.VIEW)
def usage(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = PeriodForm(request.GET)
    if not form.is_valid():
        return page(request, membership, "usage", {"form": form}, status=400)
    since, until = form.whole_start(), form.whole_end()
    days = reports.by_day(membership.tenant, since, until)
    content = {
        "form": form,
        "since": since,
        "last": days[-1].start if days else since,
        "total": reports.between(membership.tenant, since, until),
        "days": days,
        "chart": _chart(days),
        "by_key": reports.by_key(membership.tenant, since, until),
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
    rows = map(_line, reports.by_day_and_key(membership.tenant, since, until))
    return csv_file(HEADER, rows, f"usage-{membership.tenant.slug}-{since:%Y-%m-%d}.csv")


def _line(row: KeyUse) -> tuple[object, ...]:
    day = f"{row.day:%Y-%m-%d}" if row.day else ""
    return (day, row.name, row.public_id, *_figures(row.used))


def _figures(used: Used) -> tuple[object, ...]:
    seconds = f"{used.audio_seconds:.3f}"
    return used.requests, used.characters, used.charged, seconds, used.failures


def _chart(days: Sequence[Period]) -> charts.Chart:
    values = [day.used.charged for day in days]
    return charts.chart(
        values, [f"{day.start:%Y-%m-%d}: {day.used.charged:,} characters" for day in days]
    )
