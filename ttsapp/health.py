"""For supervisors and load balancers: alive, and able to serve."""

from __future__ import annotations

import shutil

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse

from gpu_engine.proto import engine_pb2
from ttsapp import database
from ttsapp.engine.client import client
from ttsapp.errors import ApiError
from ttsapp.http import json_response

# Some hours of ledger rows and logs: time for somebody to make room.
LEAST_FREE_BYTES = 64 * 1024 * 1024


async def livez(request: HttpRequest) -> HttpResponse:
    """The process runs and its loop turns."""
    return json_response({"status": "alive"})


async def readyz(request: HttpRequest) -> HttpResponse:
    """200 when a request would be served: the database answers, what is written about it has room
    on the disk, and the engine takes streams."""
    parts = {"database": await _database(), "disk": _disk(), "engine": await _engine()}
    is_ready = parts == {"database": "ok", "disk": "ok", "engine": "ready"}
    headers = {} if is_ready else {"Retry-After": "1"}
    return json_response(parts, 200 if is_ready else 503, headers)


async def _database() -> str:
    try:
        await database.read(_ask)
    except ApiError:
        return "down"
    return "ok"


def _disk() -> str:
    """Of the data folder: logs, and the database where it is a file."""
    free = shutil.disk_usage(settings.DATA).free
    return "ok" if free >= LEAST_FREE_BYTES else "full"


def _ask() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


async def _engine() -> str:
    try:
        status = await client().status()
    except ApiError:
        return "down"
    return engine_pb2.EngineStatus.State.Name(status.state).removeprefix("STATE_").lower()
