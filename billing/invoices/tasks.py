"""Periodic work on invoices."""

from __future__ import annotations

import structlog
from django.utils import timezone

from billing.invoices import services
from ttsapp.celery import app

log = structlog.get_logger()


@app.task(name="billing.issue_invoices")  # type: ignore[untyped-decorator]
def issue_invoices() -> int:
    """Run every hour; any number of workers may run it at once, at any time of the month."""
    made = services.issue_due(timezone.now())
    if made:
        log.info("invoices issued", invoices=made)
    return made
