"""One at a time, over all processes, where there is no row to lock."""

from __future__ import annotations

from hashlib import blake2b

from django.db import connection


def hold(name: str) -> None:
    """Until the transaction ends. SQLite's exclude each other as they are."""
    assert connection.in_atomic_block, "the lock is the transaction's"
    if connection.vendor == "postgresql":
        digest = blake2b(name.encode(), digest_size=8).digest()
        with connection.cursor() as cursor:
            number = int.from_bytes(digest, signed=True)
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
