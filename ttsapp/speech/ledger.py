"""Writing the ledger in few transactions: reservations and settlements that come together."""

from __future__ import annotations

import structlog
from django.db import DataError, IntegrityError

from billing import services as billing
from ttsapp import database
from ttsapp.speech import services
from ttsapp.speech.services import Closing
from ttsapp.together import Together

log = structlog.get_logger()


async def reserve(request: billing.Metered) -> None:
    """Once: a request without a reservation is settled all the same."""
    await _reservations.add(request)


async def close(closing: Closing) -> None:
    """Comes back when it is written. Raises what the database raises in the end."""
    await _closings.add(closing)


async def _reserve_all(requests: list[billing.Metered]) -> list[Exception | None]:
    await database.write(billing.reserve_all, requests)
    return [None] * len(requests)


async def _close_all(closings: list[Closing]) -> list[Exception | None]:
    try:
        await database.write_surely(services.close_all, closings)
    except (IntegrityError, DataError) as error:
        if len(closings) > 1:
            return [(await _close_all([closing]))[0] for closing in closings]
        return [await _close_refused(closings[0], error)]
    return [None] * len(closings)


async def _close_refused(closing: Closing, error: Exception) -> Exception | None:
    """Its values are such as the database does not take: those that it takes are better than
    none."""
    if closing.is_capped:
        return error
    log.error("the ledger refuses a usage", request=str(closing.order.id), error=str(error))
    return (await _close_all([closing.capped()]))[0]


_reservations = Together(_reserve_all)
_closings = Together(_close_all)
