"""Periodic work on the ledger."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.conf import settings

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
