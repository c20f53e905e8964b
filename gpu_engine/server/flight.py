"""Jobs that were launched and are not collected: none while the next is decided on in the plain
loop, up to two a lane in the overlapped one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from gpu_engine.runner import Device, Outcome, Ticket, VoiceEncoding
from gpu_engine.scheduler import Job, Kind

GENERATION = frozenset({Kind.PREFILL, Kind.TALKER, Kind.PREDICTOR})
BESIDE = frozenset({Kind.CODEC, Kind.ENCODE, Kind.ALIGN})
NOTHING: frozenset[Kind] = frozenset()


class Flight:
    """Launches on a device and collects, in launch order within a lane."""

    def __init__(
        self, device: Device, overlapped: bool, look: Callable[[int], Ticket] | None = None
    ) -> None:
        """`look`: for a stream's words."""
        self._device, self._look = device, look
        self._depth = 2 if overlapped else 1
        kinds = [GENERATION, BESIDE] if device.shapes.lanes > 1 else [GENERATION | BESIDE]
        self._lanes = [(lane, deque[tuple[Job, Ticket]]()) for lane in kinds]

    @property
    def closed(self) -> frozenset[Kind]:
        """Kinds whose lane is full."""
        full = [kinds for kinds, jobs in self._lanes if len(jobs) >= self._depth]
        return NOTHING.union(*full)

    @property
    def empty(self) -> bool:
        return not any(jobs for _, jobs in self._lanes)

    def launch(self, job: Job, voice: VoiceEncoding | None = None) -> None:
        jobs = next(jobs for kinds, jobs in self._lanes if job.kind in kinds)
        jobs.append((job, self._start(job, voice)))

    def land(self, waiting: bool) -> list[tuple[Job, Outcome]]:
        """What is done by now. Waits for the oldest job of the first lane that has one where a lane
        must be emptied before anything can be launched, or where nothing else is left to do."""
        landed = []
        for _, jobs in self._lanes:
            while jobs and (self._depth == 1 or (len(jobs) > 1 and jobs[0][1].done())):
                job, ticket = jobs.popleft()
                landed.append((job, ticket.wait()))
        if not landed and waiting and not self.empty:
            job, ticket = next(jobs for _, jobs in self._lanes if jobs).popleft()
            landed.append((job, ticket.wait()))
        return landed

    def _start(self, job: Job, voice: VoiceEncoding | None) -> Ticket:
        match job.kind:
            case Kind.PREFILL:
                return self._device.prefill(job.slots)
            case Kind.TALKER:
                return self._device.talk(job.slots)
            case Kind.PREDICTOR:
                return self._device.predict(job.slots)
            case Kind.CODEC:
                return self._device.decode(job.slots, job.frames)
            case Kind.ENCODE:
                assert voice is not None, "a piece is of a voice"
                return self._device.encode(voice)
            case Kind.ALIGN:
                assert self._look is not None, "words are asked for where there is an aligner"
                return self._look(job.stream)
