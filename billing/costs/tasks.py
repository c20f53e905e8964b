"""Periodic work on costs."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.utils import timezone

from billing.costs.services import Heard, note_heartbeats
from billing.costs.uptime import Beat
from gpu_engine.proto import engine_pb2
from ttsapp.celery import app
from ttsapp.engine import client
from ttsapp.errors import ApiError


@app.task(name="billing.note_engines")  # type: ignore[untyped-decorator]
def note_engines() -> int:
    """Run every minute: asks the engines how long they have been up and how much they worked."""
    answers = [heard(each) for each in async_to_sync(_ask)() if not isinstance(each, ApiError)]
    note_heartbeats(answers)
    return len(answers)


def heard(status: engine_pb2.EngineStatus) -> Heard:
    busy = sum(module.busy_seconds for module in status.modules.values())
    beat = Beat(timezone.now(), status.uptime_seconds, busy)
    return Heard(status.engine_id, status.device, beat)


async def _ask() -> list[engine_pb2.EngineStatus | ApiError]:
    try:
        return await client.client().statuses()
    finally:
        # The task's loop ends with it, and so must the channel.
        await client.close()
