"""Months that nobody is billed for, unless somebody means it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date

from billing import money
from billing.invoices.drafts import Draft, draft
from billing.invoices.models import Document, Kind
from billing.models import Grain, Rollup
from billing.prices.selectors import price_list
from billing.prices.uses import by_day, midnight, next_month
from ttsapp.tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class Skipped:
    """Months that would never be invoiced, oldest first; `sum`: what they come to by now, as it is
    typed to say that this is meant."""

    months: tuple[date, ...]
    sum: str


def owed(tenant: Tenant, before: date) -> list[Draft]:
    """Months before `before` that come to something and have no invoice, oldest first."""
    invoiced = Document.objects.filter(tenant=tenant, kind=Kind.INVOICE)
    done = set(invoiced.values_list("month", flat=True))
    used = Rollup.objects.filter(
        tenant=tenant, grain=Grain.DAY, start__lt=midnight(before), billed_characters__gt=0
    )
    months = [each.date() for each in used.datetimes("start", "month", tzinfo=UTC)]
    prices = price_list()
    books = ((prices.book(tenant.pk, month), month) for month in months if month not in done)
    drafts = [
        draft(book, month, by_day(month, next_month(month), tenant.pk))
        for book, month in books
        if book is not None
    ]
    return [each for each in drafts if each.total_micros]


def skipped(tenant: Tenant, since: date | None, until: date, today: date) -> Skipped | None:
    """What is left out where invoices, that were to go on with `since`, begin with `until`: the
    months that come to something, and the running one whatever it comes to so far."""
    drafts = [each for each in owed(tenant, until) if since is None or each.month >= since]
    running = today.replace(day=1)
    months = {each.month for each in drafts}
    if (since is None or since <= running) and running < until:
        months.add(running)
    return Skipped(tuple(sorted(months)), total(drafts)) if months else None


def total(drafts: Iterable[Draft]) -> str:
    """`4.80 EUR`; of several currencies one after the other."""
    sums: Counter[str] = Counter()
    for each in drafts:
        sums[each.currency] += each.total_micros
    return ", ".join(money.text(micros, code) for code, micros in sorted(sums.items())) or "0.00"


def latest(today: date) -> date:
    """The last month that invoices may be set to begin with."""
    return next_month(today.replace(day=1))
