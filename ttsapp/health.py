"""For supervisors and load balancers: alive, and able to serve."""

from __future__ import annotations

import shutil

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse

from ttsapp import database
from ttsapp.engine.client import AWAY, Standing, client
from ttsapp.errors import ApiError
from ttsapp.http import json_response

# Some hours of ledger rows and logs: time for somebody to make room.
LEAST_FREE_BYTES = 64 * 1024 * 1024


async def livez(request: HttpRequest) -> HttpResponse:
    """The process runs and its loop turns."""
    return json_response({"status": "alive"})


async def readyz(request: HttpRequest) -> HttpResponse:
    """200 when a request would be served: the database answers, what is written about it has room
    on the disk, and an engine takes streams. `engine` is ready when every model can be had."""
    engine = await client().standing()
    parts = {"database": await _database(), "disk": _disk(), "engine": _told(engine)}
    is_ready = (parts["database"], parts["disk"]) == ("ok", "ok") and engine.takes_streams
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


def _told(engine: Standing) -> str:
    return "down" if engine.state == AWAY else engine.state
