"""Work on voices that nobody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings

from ttsapp.celery import app
from ttsapp.engine import client
from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.voices import previews, selectors
from ttsapp.voices.services import registry, renewal, unloading

log = structlog.get_logger()


@app.task(name="voices.make_previews")  # type: ignore[untyped-decorator]
def make_previews(tenant_id: int, name: str) -> int:
    """Of the voice that the tenant knows by that name. Twice does no harm: what is there stays."""
    return asyncio.run(_then_close(_previews_of(tenant_id, name)))


@app.task(name="voices.delete_ended")  # type: ignore[untyped-decorator]
def delete_ended() -> int:
    """Voices whose consent ended some days ago."""
    deleted = registry.delete_ended(timedelta(days=settings.ENDED_VOICE_DAYS))
    if deleted:
        log.info("voices deleted after the end of their consent", deleted=deleted)
    unloading.prune()
    return deleted


@app.task(name="voices.unload_deleted")  # type: ignore[untyped-decorator]
def unload_deleted() -> int:
    """Out of the engines' memory."""
    return asyncio.run(_then_close(unloading.unload_deleted()))


@app.task(name="voices.renew_outdated")  # type: ignore[untyped-decorator]
def renew_outdated() -> int:
    """Voices that were made for other weights than are served now, from the clip that was kept."""
    return asyncio.run(_then_close(renewal.renew_outdated()))


async def _previews_of(tenant_id: int, name: str) -> int:
    try:
        served = await selectors.catalogue(Caller(tenant_id, None, "system"))
        model = served.default()
        return await previews.make(served, model.preset(name)) if model else 0
    except ApiError as error:
        # It is asked for again when somebody wants to hear it.
        log.info("no preview", voice=name, code=error.code)
        return 0


async def _then_close(work: Coroutine[Any, Any, int]) -> int:
    """A task has a loop of its own, and so a client of its own."""
    try:
        return await work
    finally:
        await client.close()
