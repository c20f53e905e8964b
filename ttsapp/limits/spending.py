"""What the limits' counters in Redis say was spent: to be compared with the ledger."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import redis
from django.conf import settings

from ttsapp.limits.stores import prefix


def counted(month: str) -> dict[str, int]:
    """Characters by subject (`t1`: tenant 1, `k2`: key 2). Empty without Redis, where each web
    process counts for itself and reads the ledger again every half hour.

    Raises what redis-py raises."""
    if not settings.REDIS_URL:
        return {}
    with _redis() as client:
        keys = list(_keys(client, month))
        values = client.mget(keys) if keys else []
    counted = zip(map(_subject, keys), values, strict=True)
    return {subject: int(value) for subject, value in counted if value is not None}


def forget(month: str, subjects: Collection[str]) -> None:
    """Their next requests read from the ledger what was spent. Raises what redis-py raises."""
    with _redis() as client:
        for key in _keys(client, month):
            if _subject(key) in subjects:
                client.delete(key)


def _redis() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2)


def _keys(client: redis.Redis, month: str) -> Iterator[bytes]:
    return client.scan_iter(match=f"{prefix()}:*:spent:{month}", count=1000)


def _subject(key: bytes) -> str:
    return key.decode().split(":")[-3]
