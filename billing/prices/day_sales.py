"""Writing what each day was sold for, so that pages over a thousand tenants need not rate them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from django.db import transaction

from billing.money import MICROS
from billing.prices import uses
from billing.prices.models import DaySale
from billing.prices.revenue import Sale, sales
from billing.prices.selectors import price_list

BATCH = 1000


def add_up(months: Iterable[date]) -> int:
    """Rates these months again, as prices and use are now; returns how many rows they have.

    It may run at any time, twice, or on several machines at once."""
    return sum(_month(month) for month in months)


@transaction.atomic
def _month(month: date) -> int:
    end = uses.next_month(month)
    # In one order everywhere: two workers at the same rows cannot block each other.
    rows = sorted(
        map(_row, sales(price_list(), uses.by_day(month, end))),
        key=lambda row: (row.day, row.tenant_id, row.currency),
    )
    DaySale.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["day", "tenant", "currency"],
        update_fields=["characters", "micros"],
    )
    _remove_others(month, end, rows)
    return len(rows)


def _remove_others(since: date, until: date, rows: Iterable[DaySale]) -> None:
    """Of days that have a price by now, or another currency."""
    kept = {(row.day, row.tenant_id, row.currency) for row in rows}
    stored = DaySale.objects.filter(day__gte=since, day__lt=until)
    found = stored.values_list("pk", "day", "tenant_id", "currency")
    gone = [pk for pk, *key in found if tuple(key) not in kept]
    for start in range(0, len(gone), BATCH):
        DaySale.objects.filter(pk__in=gone[start : start + BATCH]).delete()


def _row(sale: Sale) -> DaySale:
    return DaySale(
        day=sale.day,
        tenant_id=sale.tenant_id,
        currency=sale.currency,
        characters=sale.characters,
        micros=(sale.picos + MICROS // 2) // MICROS,
    )
