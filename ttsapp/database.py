"""The async side's door to the ORM: a few threads that keep their connections.

Django's own bridge opens a thread, and with it a connection, for every request. Reads and writes
have threads of their own: a ledger that waits for a lock holds up no one's authentication."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

import structlog
from django.conf import settings
from django.db import DataError, IntegrityError, close_old_connections, connection
from django.db import Error as DatabaseError

from ttsapp.errors import ApiError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

log = structlog.get_logger()

# A caller is told to come back rather than left waiting for a database that is away.
READ_SECONDS = 5.0
RETRY_AFTER_MS = 1000
# Between the attempts to write what must not be lost.
WRITE_AGAIN_SECONDS = (0.1, 0.5, 2.0, 10.0, 30.0, 60.0, 120.0)


async def read(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Calls a selector in a reading thread. Raises ApiError 503 while the database is away, and
    DataError for a value that it cannot look for, which no later attempt would change."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await _run(readers(), partial(function, *args, **kwargs))
    except DataError:
        raise
    except (DatabaseError, TimeoutError) as error:
        log.error("the database does not answer", error=repr(error))
        raise unavailable() from error


async def write(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Calls a service in a writing thread, once. Raises what the database raises."""
    return await _run(writers(), partial(function, *args, **kwargs))


async def write_surely(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Calls a service that may be repeated; again for some minutes while the database is away.

    Raises at once what the database says of the values, which no later attempt would change."""
    for pause in WRITE_AGAIN_SECONDS:
        try:
            return await write(function, *args, **kwargs)
        except (IntegrityError, DataError):
            raise
        except DatabaseError as error:
            log.error("not written yet", what=function.__qualname__, error=str(error))
            await asyncio.sleep(pause)
    return await write(function, *args, **kwargs)


def can_hold(text: str) -> bool:
    """Postgres has no NUL in its texts: one with it is nothing's name."""
    return "\0" not in text


def refused(error: DataError) -> ApiError:
    """Where nobody looked at a value before the database did."""
    log.error("the database refuses a value", error=repr(error))
    message = "A value of the request cannot be kept or looked for: it is too large, or has a NUL."
    return ApiError(400, "invalid_value", message)


def unavailable() -> ApiError:
    message = "The service cannot read its database right now. Please try again."
    return ApiError(503, "database_unavailable", message, retry_after_ms=RETRY_AFTER_MS)


async def _run(threads: ThreadPoolExecutor, function: Callable[[], Result]) -> Result:
    context = contextvars.copy_context()
    call = partial(context.run, _call, function)
    return await asyncio.get_running_loop().run_in_executor(threads, call)


def _call(function: Callable[[], Result]) -> Result:
    close_old_connections()
    try:
        return function()
    finally:
        close_old_connections()


@cache
def readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="read")


@cache
def writers() -> ThreadPoolExecutor:
    """SQLite takes one writer at a time: a second would only wait, and wake late."""
    threads = 1 if connection.vendor == "sqlite" else settings.DATABASE_THREADS
    return ThreadPoolExecutor(threads, thread_name_prefix="write")
