"""Periodic work on invoices."""

from __future__ import annotations

from datetime import datetime

import structlog
from django.utils import timezone

from billing.invoices import selectors, services
from ttsapp.celery import app

log = structlog.get_logger()


@app.task(name="billing.issue_invoices")  # type: ignore[untyped-decorator]
def issue_invoices() -> int:
    """Run every hour; any number of workers may run it at once, at any time of the month."""
    return issue_all(timezone.now())


def issue_all(now: datetime) -> int:
    """Of every tenant, whatever goes wrong with one of them: that one is tried again next time."""
    made = 0
    for details in selectors.to_invoice(now):
        try:
            made += services.issue_due(details, now)
        except Exception:
            log.exception("a tenant could not be invoiced", tenant=details.tenant_id)
    if made:
        log.info("invoices issued", invoices=made)
    return made
