"""The async side's door to the ORM: a few threads that keep their connections.

Django's own bridge opens a thread, and with it a connection, for every request."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def run(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Calls a synchronous selector or service in a database thread."""
    context = contextvars.copy_context()
    call = partial(context.run, _call, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


def _call(function: Callable[[], Result]) -> Result:
    close_old_connections()
    try:
        return function()
    finally:
        close_old_connections()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="database")
