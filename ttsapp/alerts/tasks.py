"""Periodic work on alerts."""

from __future__ import annotations

from django.utils import timezone

from ttsapp.alerts import evaluation, selectors, sending
from ttsapp.celery import app


@app.task(name="alerts.evaluate")  # type: ignore[untyped-decorator]
def evaluate() -> int:
    """Run every minute: asks all rules."""
    return evaluation.evaluate(timezone.now())


@app.task(name="alerts.deliver")  # type: ignore[untyped-decorator]
def deliver() -> int:
    """Run every ten seconds: sends what is due. Sent twice at worst, never lost: receivers know an
    event by its id."""
    return sending.deliver(selectors.due(timezone.now()))
