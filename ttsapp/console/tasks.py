"""Periodic work for pages."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.utils import timezone

from gpu_engine.proto.engine_pb2 import EngineStatus
from ttsapp.celery import app
from ttsapp.console.live import kept
from ttsapp.engine import client


@app.task(name="console.note_engines")  # type: ignore[untyped-decorator]
def note_engines() -> int:
    """Run every minute: how full and busy each engine is, and how soon audio has come."""
    now = timezone.now()
    kept.note_hours(now)
    return kept.note(async_to_sync(ask)(), now)


async def ask() -> list[EngineStatus]:
    try:
        told = await client.client().statuses()
        return [status for status in told if isinstance(status, EngineStatus)]
    finally:
        # The task's loop ends with it, and so must the channel.
        await client.close()
