"""UUIDv7 (RFC 9562): ids that sort by time, so that they can be the only key of a ledger."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def uuid7() -> UUID:
    """48 bits of Unix milliseconds, then 74 random bits."""
    return _assemble(time.time_ns() // 1_000_000, secrets.randbits(74))


def lowest(moment: datetime) -> UUID:
    """The smallest UUIDv7 of that millisecond: the bound of a range over ids."""
    return _assemble((moment - _EPOCH) // timedelta(milliseconds=1), 0)


def moment(value: UUID) -> datetime:
    """When the id was minted, in UTC, to the millisecond."""
    return datetime.fromtimestamp((value.int >> 80) / 1000, UTC)


def age(value: UUID) -> float:
    """Seconds since the id was minted, of any id whatever: negative where it claims to be later."""
    return time.time() - (value.int >> 80) / 1000


def _assemble(milliseconds: int, noise: int) -> UUID:
    high, low = noise >> 62, noise & ((1 << 62) - 1)
    return UUID(int=milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)
