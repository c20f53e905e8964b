"""Streams that wait for a slot: bounded, fair over tenants, interactive before background."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from gpu_engine.scheduler.stream import Stream

MOST_REMEMBERED = 4096


@dataclass(slots=True)
class TenantQueue:
    """Fair queueing by frames: the tenant that was given least, for its share, comes next; first
    come first served within one. Who comes back from absence has saved nothing up."""

    tenants: dict[str, deque[Stream]] = field(default_factory=dict)
    given: dict[str, float] = field(default_factory=dict)
    virtual: float = 0.0
    length: int = 0

    def __len__(self) -> int:
        return self.length

    def push(self, stream: Stream) -> None:
        if stream.tenant not in self.tenants:
            self.tenants[stream.tenant] = deque()
            self.given[stream.tenant] = max(self.virtual, self.given.get(stream.tenant, 0.0))
        self.tenants[stream.tenant].append(stream)
        self.length += 1

    def peek(self, allows: Callable[[Stream], bool]) -> Stream | None:
        """Who comes next of those that are allowed to."""
        first = [streams[0] for streams in self.tenants.values()]
        first.sort(key=lambda stream: (self.given[stream.tenant], stream.id))
        return next(filter(allows, first), None)

    def pop(self, stream: Stream) -> None:
        self.virtual = max(self.virtual, self.given[stream.tenant])
        self.given[stream.tenant] += stream.frame_cap / stream.share
        self.remove(stream)

    def oldest(self) -> float:
        return min(queue[0].arrived for queue in self.tenants.values())

    def remove(self, stream: Stream) -> None:
        queue = self.tenants[stream.tenant]
        queue.remove(stream)
        self.length -= 1
        if not queue:
            del self.tenants[stream.tenant]
        if len(self.given) > MOST_REMEMBERED:
            self.given = {name: self.given[name] for name in self.tenants}


@dataclass(slots=True)
class WaitingRoom:
    """Both classes. Background work that waited out its patience goes before interactive work."""

    limit: int
    patience: float
    interactive: TenantQueue = field(default_factory=TenantQueue)
    background: TenantQueue = field(default_factory=TenantQueue)
    by_id: dict[int, Stream] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.by_id)

    def full(self, tenant: str) -> bool:
        """True where nobody may wait any more, or where the places are taken and the tenant has
        its even part of them: another's burst does not shut it out."""
        if len(self) < self.limit:
            return False
        tenants = self.interactive.tenants.keys() | self.background.tenants.keys() | {tenant}
        own = sum(
            len(queue.tenants.get(tenant, ())) for queue in (self.interactive, self.background)
        )
        return len(self) >= 2 * self.limit or own * len(tenants) >= self.limit

    def longest(self, now: float) -> float:
        """Seconds that the interactive stream which waits longest has waited by now."""
        return max(0.0, now - self.interactive.oldest()) if self.interactive else 0.0

    def push(self, stream: Stream) -> None:
        self._queue_of(stream).push(stream)
        self.by_id[stream.id] = stream

    def peek(self, now: float, allows: Callable[[Stream], bool]) -> Stream | None:
        """Who comes next of those that are allowed to."""
        first, second = self.interactive, self.background
        if self.background and now - self.background.oldest() >= self.patience:
            first, second = second, first
        return first.peek(allows) or second.peek(allows)

    def pop(self, stream: Stream) -> None:
        self._queue_of(stream).pop(stream)
        del self.by_id[stream.id]

    def remove(self, stream: Stream) -> None:
        self._queue_of(stream).remove(stream)
        del self.by_id[stream.id]

    def _queue_of(self, stream: Stream) -> TenantQueue:
        return self.background if stream.background else self.interactive
