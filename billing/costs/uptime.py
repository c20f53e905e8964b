"""How long an engine was up and at work, from what it says of itself at each heartbeat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

HOUR = timedelta(hours=1)
# What a first heartbeat may claim for the time before it.
LONGEST_CLAIM = timedelta(days=31)


@dataclass(frozen=True, slots=True)
class Beat:
    """`uptime_seconds`: since the engine started; `busy_seconds`: of its modules, since then or
    since its core was last replaced."""

    at: datetime
    uptime_seconds: float
    busy_seconds: float

    @property
    def started(self) -> datetime:
        return self.at - timedelta(seconds=self.uptime_seconds)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of one UTC hour."""

    hour: datetime
    up_seconds: float
    busy_seconds: float


def between(last: Beat | None, now: Beat) -> list[Slice]:
    """What to add to the hours. The engine's own word counts: it was up as long as it says, even if
    nobody asked meanwhile."""
    since = max(now.started, now.at - LONGEST_CLAIM)
    if last is not None:
        since = max(since, last.at)
    up = (now.at - since).total_seconds()
    if up <= 0:
        return []
    busy = min(up, _busy(last, now))
    return [Slice(hour, seconds, busy * seconds / up) for hour, seconds in _by_hour(since, now.at)]


def _busy(last: Beat | None, now: Beat) -> float:
    """A counter that fell has begun anew."""
    if last is None or now.busy_seconds < last.busy_seconds:
        return now.busy_seconds
    return now.busy_seconds - last.busy_seconds


def _by_hour(since: datetime, until: datetime) -> Iterator[tuple[datetime, float]]:
    hour = since.replace(minute=0, second=0, microsecond=0)
    while hour < until:
        end = min(until, hour + HOUR)
        yield hour, (end - max(since, hour)).total_seconds()
        hour += HOUR
