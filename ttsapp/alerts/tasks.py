"""Periodic work on alerts."""

from __future__ import annotations

from django.utils import timezone

from ttsapp.alerts import evaluation, sending
from ttsapp.celery import app


@app.task(name="alerts.evaluate")  # type: ignore[untyped-decorator]
def evaluate() -> int:
    """Run every minute: asks all rules."""
    return evaluation.evaluate(timezone.now())


@app.task(name="alerts.deliver")  # type: ignore[untyped-decorator]
def deliver() -> bool:
    """Run every ten seconds: begins to send what is due, unless it is still being sent. Sent twice
    at worst, never lost: receivers know an event by its id."""
    return sending.begin()
