"""One process of the load. Imported in it before Django is set up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from billing.bench.load import Measured


def begin() -> None:
    django.setup()


def measured(streams: int, seconds: float) -> Measured:
    from billing.bench.load import measure
    from ttsapp.keys.authentication import Caller
    from ttsapp.keys.models import ApiKey

    # As authentication has them at hand.
    keys = ApiKey.objects.select_related("tenant")
    callers = [
        Caller(key.tenant_id, key.pk, f"key:{key.public_id}", (key.tenant.limits, key.limits))
        for key in keys
    ]
    return asyncio.run(measure(callers, seconds, streams))
