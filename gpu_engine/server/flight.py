"""Jobs that were launched and are not collected: none while the next is decided on in the plain
loop, up to two a lane in the overlapped one."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator

from gpu_engine.runner import Device, Outcome, Ticket, VoiceEncoding
from gpu_engine.scheduler import Job, Kind

GENERATION = frozenset({Kind.PREFILL, Kind.TALKER, Kind.PREDICTOR})
BESIDE = frozenset({Kind.CODEC, Kind.ENCODE, Kind.ALIGN})
NOTHING: frozenset[Kind] = frozenset()
LOOK_S = 20e-6  # between two looks at what has not ended


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
        return self._with(self._depth)

    @property
    def behind(self) -> frozenset[Kind]:
        """Kinds that would wait for a job that was launched before."""
        return self._with(1)

    @property
    def empty(self) -> bool:
        return not any(jobs for _, jobs in self._lanes)

    def _with(self, jobs: int) -> frozenset[Kind]:
        return NOTHING.union(*(kinds for kinds, flying in self._lanes if len(flying) >= jobs))

    def launch(self, job: Job, voice: VoiceEncoding | None = None) -> None:
        jobs = next(jobs for kinds, jobs in self._lanes if job.kind in kinds)
        jobs.append((job, self._start(job, voice)))

    def land(self, waiting: bool) -> list[tuple[Job, Outcome]]:
        """What is done by now, all of it in the plain loop. `waiting`: nothing can be launched, so
        one job at least is waited for, whichever ends first."""
        landed = [self._collect(jobs) for jobs in self._done()]
        while waiting and not landed and not self.empty:
            time.sleep(LOOK_S)
            landed = [self._collect(jobs) for jobs in self._done()]
        return landed

    def _done(self) -> Iterator[deque[tuple[Job, Ticket]]]:
        """A lane for each of its jobs that has ended. Lanes do not wait for each other: audio
        would leave only when its stream has no more frames to make."""
        for _, jobs in self._lanes:
            while jobs and (self._depth == 1 or jobs[0][1].done()):
                yield jobs

    @staticmethod
    def _collect(jobs: deque[tuple[Job, Ticket]]) -> tuple[Job, Outcome]:
        job, ticket = jobs.popleft()
        return job, ticket.wait()

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
