"""What the limits' counters in Redis say was spent: to be compared with the ledger."""

from __future__ import annotations

import redis
from django.conf import settings

from ttsapp.limits.stores import prefix


def counted(month: str) -> dict[str, int]:
    """Characters by subject (`t1`: tenant 1, `k2`: key 2). Empty without Redis, where each web
    process counts for itself and reads the ledger again every half hour.

    Raises what redis-py raises."""
    if not settings.REDIS_URL:
        return {}
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2) as client:
        keys = list(client.scan_iter(match=f"{prefix()}:*:spent:{month}", count=1000))
        values = client.mget(keys) if keys else []
    return {
        key.decode().split(":")[-3]: int(value)
        for key, value in zip(keys, values, strict=True)
        if value is not None
    }
