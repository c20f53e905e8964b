"""Streams that wait for a slot: bounded, fair over tenants, interactive before background."""

from __future__ import annotations

from collections import deque
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

    def peek(self) -> Stream:
        tenant = min(self.tenants, key=lambda name: (self.given[name], self.tenants[name][0].id))
        return self.tenants[tenant][0]

    def pop(self) -> Stream:
        stream = self.peek()
        self.virtual = self.given[stream.tenant]
        self.given[stream.tenant] += stream.frame_cap / stream.share
        self.remove(stream)
        return stream

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

    @property
    def full(self) -> bool:
        return len(self) >= self.limit

    def push(self, stream: Stream) -> None:
        self._queue_of(stream).push(stream)
        self.by_id[stream.id] = stream

    def peek(self, now: float) -> Stream:
        return self._next(now).peek()

    def pop(self, now: float) -> Stream:
        stream = self._next(now).pop()
        del self.by_id[stream.id]
        return stream

    def remove(self, stream: Stream) -> None:
        self._queue_of(stream).remove(stream)
        del self.by_id[stream.id]

    def _next(self, now: float) -> TenantQueue:
        patient = not self.background or now - self.background.oldest() < self.patience
        return self.interactive if self.interactive and patient else self.background

    def _queue_of(self, stream: Stream) -> TenantQueue:
        return self.background if stream.background else self.interactive
