"""Periodic work on kept answers."""

from __future__ import annotations

from ttsapp.celery import app
from ttsapp.idempotency import services


@app.task(name="idempotency.prune")  # type: ignore[untyped-decorator]
def prune() -> int:
    """Run every minute; any number of workers may run it at once."""
    return services.prune()
