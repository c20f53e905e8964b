"""What a million characters costs on these machines, beside what it is sold for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from billing import money
from billing.costs import selectors
from billing.costs.figures import ClassFigures, Day, Part, Report
from billing.costs.formulas import at_speed
from billing.costs.report import TARGET_UTILISATION, parts, report
from ttsapp.console.access import platform_page
from ttsapp.console.files import csv_file
from ttsapp.console.periods import PeriodForm
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole
from ttsapp.voices.selectors import labels_of_all

# The utilisations that the table beside the sliders has.
STEPS = (5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
HEADER = (
    "day",
    "currency",
    "characters",
    "top_up_characters",
    "busy_cost",
    "idle_cost",
    "fixed_cost",
    "revenue",
    "cost_per_million",
    "revenue_per_million",
)
PARTS = (
    "name",
    "currency",
    "characters",
    "top_up_characters",
    "engine_ms",
    "cost",
    "revenue",
    "cost_per_million",
)
# The page has those that took most, the files have all.
SHOWN = 50


class CostsForm(PeriodForm):
    target = forms.IntegerField(
        required=False, min_value=1, max_value=100, label="Target utilisation, %"
    )

    def share(self) -> Fraction:
        percent = self.cleaned_data.get("target")
        return Fraction(percent, 100) if percent else TARGET_UTILISATION

    def days(self) -> tuple[date, date]:
        return self.whole_start().date(), self.whole_end().date()

    def report(self, *, has_parts: bool) -> Report:
        return report(*self.days(), self.share(), has_parts=has_parts)


@require_safe
@platform_page(PlatformPermission.VIEW)
def costs(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    form = CostsForm(request.GET)
    if not form.is_valid():
        return page(request, role, "costs", {"form": form}, status=400)
    found = form.report(has_parts=False)
    content = {
        "form": form,
        "report": found,
        "last": found.last,
        "target": form.share(),
        "references": _compared(found),
        "query": request.GET.urlencode(),
        **_whatif(found, form.share()),
    }
    return page(request, role, "costs", content)


@require_safe
@platform_page(PlatformPermission.VIEW)
def cost_parts(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    """Whose the cost was: a page of its own, since it reads every tenant's days."""
    form = CostsForm(request.GET)
    if not form.is_valid():
        return page(request, role, "costs", {"form": form}, status=400)
    since, until = form.days()
    tenants, voices = parts(since, until)
    content = {
        "since": since,
        "last": until - timedelta(days=1),
        "currency": settings.CURRENCY,
        "tenants": tenants[:SHOWN],
        "voices": _named(voices[:SHOWN]),
        "query": form.query(),
        "page": "costs",
    }
    return page(request, role, "cost_parts", content)


@require_safe
@platform_page(PlatformPermission.VIEW)
def costs_csv(request: HttpRequest, role: PlatformRole, what: str) -> HttpResponse:
    """One row a UTC day, tenant or voice; money as decimals of the installation's currency."""
    form = CostsForm(request.GET)
    if not form.is_valid():
        return page(request, role, "costs", {"form": form}, status=400)
    found = form.report(has_parts=what != "days")
    name = f"costs-{what}-{found.since:%Y-%m-%d}.csv"
    if what == "days":
        return csv_file(HEADER, [_line(day, found.currency) for day in found.days], name)
    rows = found.tenants if what == "tenants" else found.voices
    return csv_file(PARTS, [_part(part, found.currency) for part in rows], name)


def _named(voices: Sequence[Part]) -> list[Part]:
    """Tenants' own by what they are called; files have their ids."""
    labels = labels_of_all(part.name for part in voices)
    return [replace(part, name=labels.get(part.name, part.name)) for part in voices]


def _line(day: Day, currency: str) -> tuple[object, ...]:
    figures = day.figures
    amounts = (
        figures.busy_cost,
        figures.idle_cost,
        figures.fixed_cost,
        figures.revenue,
        figures.cost_per_million,
        figures.revenue_per_million,
    )
    counts = figures.characters, figures.top_ups
    return (day.day.isoformat(), currency, *counts, *map(_decimal, amounts))


def _part(part: Part, currency: str) -> tuple[object, ...]:
    amounts = part.cost, part.revenue, part.cost_per_million
    counts = part.characters, part.top_ups, part.gpu_ms
    return (part.name, currency, *counts, *map(_decimal, amounts))


def _decimal(micros: Fraction | None) -> object:
    return "" if micros is None else money.to_decimal(round(micros))


def _compared(found: Report) -> list[tuple[Any, Fraction | None]]:
    """Each reference price, and what share of it our own cost is."""
    cost = found.total.cost_per_million
    return [
        (row, cost / row.per_million_micros if cost and row.per_million_micros else None)
        for row in selectors.references()
    ]


def _whatif(found: Report, target: Fraction) -> dict[str, Any]:
    """What the sliders begin with: of the classes whose price and speed are known the one that was
    up longest."""
    known = [each for each in found.classes if each.at_full_load is not None]
    start = max(known, key=lambda each: each.up_hours, default=None)
    up = sum((each.up_hours for each in found.classes), Fraction(0))
    fixed = found.total.fixed_cost / up if up else Fraction(0)
    return {
        "start": start,
        "start_use": int(100 * target),
        "fixed_per_hour": fixed,
        "steps": [(step, _at(start, fixed, step)) for step in STEPS],
    }


def _at(chosen: ClassFigures | None, fixed: Fraction, step: int) -> Fraction | None:
    if chosen is None or chosen.per_hour is None or not chosen.characters_per_second:
        return None
    return at_speed(chosen.per_hour + fixed, chosen.characters_per_second, Fraction(step, 100))
