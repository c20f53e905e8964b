"""Streams that wait for a slot: bounded, fair over tenants, interactive before background."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from gpu_engine.scheduler.stream import Stream


@dataclass(slots=True)
class TenantQueue:
    """Round-robin over tenants, first come first served within one."""

    tenants: OrderedDict[str, deque[Stream]] = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return sum(map(len, self.tenants.values()))

    def push(self, stream: Stream) -> None:
        self.tenants.setdefault(stream.tenant, deque()).append(stream)

    def pop(self) -> Stream:
        tenant, queue = next(iter(self.tenants.items()))
        stream = queue.popleft()
        self.tenants.move_to_end(tenant)
        if not queue:
            del self.tenants[tenant]
        return stream

    def oldest(self) -> float:
        return min(queue[0].arrived for queue in self.tenants.values())

    def remove(self, stream: Stream) -> None:
        queue = self.tenants[stream.tenant]
        queue.remove(stream)
        if not queue:
            del self.tenants[stream.tenant]


@dataclass(slots=True)
class WaitingRoom:
    """Both classes. Background work that waited out its patience goes before interactive work."""

    limit: int
    patience: float
    interactive: TenantQueue = field(default_factory=TenantQueue)
    background: TenantQueue = field(default_factory=TenantQueue)

    def __len__(self) -> int:
        return len(self.interactive) + len(self.background)

    @property
    def full(self) -> bool:
        return len(self) >= self.limit

    def push(self, stream: Stream) -> None:
        self._queue_of(stream).push(stream)

    def pop(self, now: float) -> Stream:
        patient = not self.background or now - self.background.oldest() < self.patience
        return (self.interactive if self.interactive and patient else self.background).pop()

    def remove(self, stream: Stream) -> None:
        self._queue_of(stream).remove(stream)

    def _queue_of(self, stream: Stream) -> TenantQueue:
        return self.background if stream.background else self.interactive
