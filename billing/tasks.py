"""Periodic work on the ledger."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.conf import settings
from django.utils import timezone

from billing.models import LedgerCheck
from billing.upkeep import checks, partitions, retention
from ttsapp.celery import app
from ttsapp.speech import services

log = structlog.get_logger()


@app.task(name="billing.close_orphans")  # type: ignore[untyped-decorator]
def close_orphans() -> int:
    """Run every few minutes; any number of workers may run it at once."""
    closed = services.close_orphans(timedelta(seconds=settings.ORPHAN_SECONDS))
    if closed:
        log.warning("reservations closed after a crash", closed=closed)
    return closed


@app.task(name="billing.make_partitions")  # type: ignore[untyped-decorator]
def make_partitions() -> int:
    """Run every few hours: months of usage events have their partitions long before they begin."""
    made = partitions.make(timezone.now())
    if made:
        log.info("partitions made", partitions=made)
    return len(made)


@app.task(name="billing.reconcile")  # type: ignore[untyped-decorator]
def reconcile() -> int:
    """Run every hour over yesterday and today; what differs is a finding and an error line."""
    now = timezone.now()
    return len(checks.run(checks.plan(now - timedelta(days=1), now)))


@app.task(name="billing.check_ledger")  # type: ignore[untyped-decorator]
def check_ledger(check_id: str) -> int:
    """One that a person asked for. A second worker that was handed it does nothing."""
    check = LedgerCheck.objects.filter(pk=check_id, began_at=None).first()
    return len(checks.run(check)) if check is not None else 0


@app.task(name="billing.remove_old_events")  # type: ignore[untyped-decorator]
def remove_old_events() -> int:
    """Run every day."""
    removed = retention.remove_old()
    if removed:
        log.info("usage events removed as their tenants wish", removed=removed)
    return removed
