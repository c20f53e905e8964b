"""A stream of the device with its graphs and the host memory that jobs leave and find things in.

Without a GPU a lane runs everything at once: what is tested there is all but the waiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_engine.runner.protocol import Outcome, Slots

# Jobs that may be launched and not yet collected, on one lane.
DEPTH = 32

Replay = Callable[[], None]
Reader = Callable[[float], Outcome]


@dataclass(slots=True)
class Pending:
    """A ticket. `read` makes the outcome of the job's seconds once `end` has passed."""

    read: Reader
    start: Any = None
    end: Any = None
    seconds: float = 0.0

    def done(self) -> bool:
        return self.end is None or bool(self.end.query())

    def wait(self) -> Outcome:
        if self.end is not None:
            self.end.synchronize()
            self.seconds = self.start.elapsed_time(self.end) / 1000
        return self.read(self.seconds)


class Lane:
    """Jobs in launch order. Host buffers come round again after DEPTH jobs."""

    def __init__(
        self, device: torch.device, most_rows: int, scratch: int, urgent: bool = False
    ) -> None:
        """`urgent`: what it has to do goes before what other lanes have."""
        self.device, self._scratch, self._turn = device, scratch, 0
        self._gpu = device.type == "cuda"
        self.slots = torch.full((most_rows,), scratch, dtype=torch.int64, device=device)
        self._staged = self._host((DEPTH, most_rows), torch.int64)
        self.stream = torch.cuda.Stream(device, priority=-urgent) if self._gpu else None  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle() if self._gpu else None

    def _host(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        return torch.zeros(shape, dtype=dtype, pin_memory=self._gpu)

    def ring(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Host memory [DEPTH, *shape] for what a kind of job hands out."""
        return self._host((DEPTH, *shape), dtype)

    @contextmanager
    def here(self) -> Iterator[None]:
        """Work inside runs on this lane."""
        with torch.cuda.stream(self.stream) if self._gpu else nullcontext():
            yield

    def put(self, kept: Tensor, new: Tensor) -> None:
        """Host numbers into a tensor that stays, in launch order: from memory that is not pinned
        the host would wait here for all jobs that were launched."""
        kept.copy_(new.pin_memory() if self._gpu else new, non_blocking=True)

    def after(self, jobs: Iterable[Any]) -> None:
        """What is launched here from now on comes after those of other lanes, told by their ends;
        None has ended."""
        for end in jobs:
            if end is not None and self.stream is not None:
                self.stream.wait_event(end)

    def follow(self, other: Lane) -> None:
        """What is launched here from now on comes after what was launched there."""
        if self.stream is not None and other.stream is not None:
            self.stream.wait_event(other.stream.record_event())

    def capture(self, function: Callable[[], object]) -> Replay:
        """`function` as a graph; its tensors stay where they are. It is run twice before, for what
        compiles or sets itself up at the first call, so it must do no harm to run."""
        if not self._gpu:

            def run() -> None:
                function()

            return run
        torch.cuda.synchronize(self.device)  # what it reads was made on other streams
        with self.here():
            function()
            function()
        assert self.stream is not None
        self.stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, stream=self.stream):
            function()

        def replay(_kept: Callable[[], object] = function) -> None:
            # A graph knows addresses alone: what `function` owns must live as long as it does.
            graph.replay()

        return replay

    def launch(
        self, slots: Slots, padded: int, replay: Replay, read: Callable[[int], Reader]
    ) -> Pending:
        """Names the slots (scratch after them, up to `padded`), replays, and hands `read` the turn
        whose host memory is the job's: there it queues copies and returns what reads them."""
        turn, self._turn = self._turn, (self._turn + 1) % DEPTH
        staged = self._staged[turn, :padded]
        staged.fill_(self._scratch)
        staged[: len(slots)] = torch.from_numpy(slots)
        with self.here():
            start, began = self._mark(), time.perf_counter()
            self.slots[:padded].copy_(staged, non_blocking=True)
            replay()
            reader = read(turn)
            end = self._mark()
        return Pending(reader, start, end, time.perf_counter() - began)

    def _mark(self) -> Any:
        if not self._gpu:
            return None
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event


def outcome(rows: int, seconds: float, told: Tensor | None = None) -> Outcome:
    """`told` bool [2, >= rows] on the host: stopped, broken."""
    if told is None:
        stopped, broken = np.zeros((2, rows), np.bool_)
        return Outcome(seconds, stopped, broken)
    stopped, broken = told[:, :rows].numpy().copy()
    return Outcome(seconds, stopped, broken)
