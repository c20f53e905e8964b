"""Periodic work on costs."""

from __future__ import annotations

import structlog
from asgiref.sync import async_to_sync
from django.utils import timezone

from billing.costs.services import Heard, note_heartbeats
from billing.costs.uptime import Beat
from gpu_engine.proto import engine_pb2
from ttsapp.celery import app
from ttsapp.engine import client
from ttsapp.errors import ApiError

log = structlog.get_logger()


@app.task(name="billing.note_engines")  # type: ignore[untyped-decorator]
def note_engines() -> int:
    """Run every minute: asks the engine how long it has been up and how much of that it worked."""
    try:
        status = async_to_sync(_ask)()
    except ApiError:
        return 0
    note_heartbeats([heard(status)])
    return 1


def heard(status: engine_pb2.EngineStatus) -> Heard:
    busy = sum(module.busy_seconds for module in status.modules.values())
    beat = Beat(timezone.now(), status.uptime_seconds, busy)
    return Heard(status.engine_id, status.device, beat)


async def _ask() -> engine_pb2.EngineStatus:
    try:
        return await client.client().status()
    finally:
        # The task's loop ends with it, and so must the channel.
        await client.close()
