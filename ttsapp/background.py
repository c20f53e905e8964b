"""Work that outlives the request that began it, finished before the process stops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import structlog

Result = TypeVar("Result")

log = structlog.get_logger()
_running: set[asyncio.Task[Any]] = set()


def spawn(work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    """Runs it as a task that nobody need await; a failure is logged once."""
    task = asyncio.get_running_loop().create_task(work)
    _running.add(task)
    task.add_done_callback(_finished)
    return task


async def drain(seconds: float) -> int:
    """Waits for this loop's work; returns how many tasks were still running at the end."""
    loop = asyncio.get_running_loop()
    mine = [task for task in _running if task.get_loop() is loop]
    if not mine:
        return 0
    _, pending = await asyncio.wait(mine, timeout=seconds)
    return len(pending)


def _finished(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("background work failed", exc_info=error)
