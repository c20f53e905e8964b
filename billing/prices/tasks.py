"""Periodic work on prices."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from billing.prices import day_sales
from billing.prices.uses import months
from ttsapp.celery import app


@app.task(name="billing.add_up_sales")  # type: ignore[untyped-decorator]
def add_up_sales(days: int) -> int:
    """Of the months that the last so many days touch: run often over few, every night over a year,
    since a first price holds for the time before it as well."""
    today = timezone.now().date()
    return day_sales.add_up(months(today - timedelta(days=days), today + timedelta(days=1)))
