"""What pages, APIs, limits and the worker ask of a year's sums, and how long each answer takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from django.conf import settings
from django.utils import timezone

from billing import reports, statistics
from billing.bench.year import DAY, DAYS, HOUR, midnight
from billing.costs import attribution
from billing.costs import report as costs
from billing.costs.figures import Figures
from billing.credit import prepaid
from billing.invoices import selectors as invoices
from billing.prices import uses
from billing.prices.selectors import earned
from billing.rollups.selectors import sums, total
from ttsapp.alerts import measures
from ttsapp.limits.selectors import spent
from ttsapp.tenants.models import Tenant

Questions = Mapping[str, Callable[[], object]]
# Costs are shared out without a further question.
_NOTHING = Figures(0, *[Fraction(0)] * 6)


def questions(tenant: Tenant) -> Questions:
    """All that pages, APIs, limits and the worker ask of sums, over the ranges they ask it for:
    the widest that may be chosen, or the usual one where there is no choice."""
    return {**_of_tenant(tenant), **_of_all()}


def _of_tenant(tenant: Tenant) -> Questions:
    end = midnight()
    year, quarter, month = end - DAYS * DAY, end - 90 * DAY, end - 30 * DAY
    axis = statistics.axis(end - 80 * DAY, end, "hour", 2000)
    return {
        "a tenant's day by hour": lambda: reports.by_hour(tenant, end - DAY, end),
        "a tenant's day until now": lambda: reports.between(tenant, end, timezone.now()),
        "a tenant's month by hour": lambda: reports.by_hour(tenant, month, end),
        "a tenant's month by day": lambda: reports.by_day(tenant, month, end),
        "a tenant's year by day": lambda: reports.by_day(tenant, year, end),
        "a tenant's year in all": lambda: reports.between(tenant, year, end),
        "a tenant's year by key": lambda: reports.by_key(tenant, year, end),
        "a tenant's quarter by day and key": lambda: reports.by_day_and_key(tenant, quarter, end),
        "a tenant's year by day and key": lambda: reports.by_day_and_key(tenant, year, end),
        "a tenant's 80 days by hour and voice": lambda: statistics.statistics(
            tenant.pk, axis, end, "hour", "characters", "voice"
        ),
        "a tenant's bill of twelve months": lambda: invoices.latest_months(
            tenant, end.date().replace(day=1), 12
        ),
        "what a tenant spent this month": lambda: spent(
            end.replace(day=1) - 28 * DAY, tenant.pk, None
        ),
        "what a tenant used up of its credit": lambda: prepaid.account(tenant.pk, timezone.now()),
    }


def _of_all() -> Questions:
    end, now = midnight(), timezone.now()
    year, month = end - DAYS * DAY, end - 30 * DAY
    names = ("requests", "billed_characters", "audio_ms", "failures")
    today, this_month = end.date(), end.date().replace(day=1)
    last_month = (this_month - DAY).replace(day=1)
    return {
        "all tenants' day by hour": lambda: sums(end - DAY, end, names, interval="hour"),
        "all tenants' last hour": lambda: total(now - HOUR, now, names),
        "all tenants' year by month": lambda: sums(year, end, names, interval="month"),
        "all tenants' month by tenant": lambda: sums(month, end, names, by=("tenant_id",)),
        "costs of the month": lambda: costs.totals(month.date(), today),
        "costs of the year, by day": lambda: costs.totals(year.date(), today),
        "costs of the year, by tenant and voice": lambda: attribution.by_tenant_and_voice(
            year.date(), today, _NOTHING, {}
        ),
        "what all tenants earned in the year": lambda: earned(
            year.date(), today, settings.CURRENCY
        ),
        "who has no billing details": lambda: list(invoices.left_out(now)),
        "all tenants' budgets and spending": lambda: [*measures.budgets(now), *measures.spend(now)],
        "all tenants' credit": lambda: list(measures.credit(now)),
        # The worker prices one month after the other.
        "all tenants' month as it is priced": lambda: uses.by_day(last_month, this_month),
    }


def timed(ask: Callable[[], object], repeats: int) -> Sequence[float]:
    """Milliseconds of each time."""
    found = []
    for _ in range(repeats):
        began = time.monotonic()
        ask()
        found.append((time.monotonic() - began) * 1000)
    return found
