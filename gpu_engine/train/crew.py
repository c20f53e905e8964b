"""Child processes of a recipe: started with a log, followed, and gone when their time is up."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

PR_SET_PDEATHSIG = 1
GRACE = 5.0  # seconds between asking a child to end and making it
ENDED = 124  # status of a child whose time was up
QUIET = ("Warning", "warn(", "talker [")


class StageError(RuntimeError):
    """A stage of the recipe failed; the message ends with its log."""


@dataclass(slots=True)
class Child:
    name: str
    process: subprocess.Popen[bytes]
    log: Path
    _shown: int = 0

    def running(self) -> bool:
        return self.process.poll() is None

    def follow(self) -> None:
        """Prints whole lines that are new in the log."""
        with self.log.open("rb") as file:
            file.seek(self._shown)
            fresh = file.read()
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._shown += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            if not any(noise in line for noise in QUIET):
                print(line[:400], flush=True)

    def tail(self, lines: int = 8) -> str:
        return "\n".join(self.log.read_text("utf-8", errors="replace").splitlines()[-lines:])


class Crew:
    """Used as a context: whoever still runs at its end is ended."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self.children: list[Child] = []
        logs.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.dismiss(self.children)

    def start(
        self, name: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> Child:
        """Runs this Python with the arguments, in a process group of its own."""
        log = self._logs / f"{name}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        child = Child(name, process, log)
        self.children.append(child)
        return child

    def wait(self, child: Child, until: float, meanwhile: Callable[[], None] = lambda: None) -> int:
        """The exit status; ENDED where the child had to be ended at `until` (Unix time).
        `meanwhile` is called about once a second."""
        while child.running() and time.time() < until:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(min(1.0, max(0.01, until - time.time())))
            child.follow()
            meanwhile()
        if not child.running():
            return child.process.wait()
        self.dismiss([child])
        child.follow()
        return ENDED

    def dismiss(self, children: Sequence[Child]) -> None:
        running = [child for child in children if child.running()]
        for child in running:
            _signal(child, signal.SIGTERM)
        limit = time.time() + GRACE
        for child in running:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.01, limit - time.time()))
            _signal(child, signal.SIGKILL)
            child.process.wait()


def _end_with_parent() -> None:
    """Runs in the child: when whoever started it dies, even by SIGKILL, it is asked to end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _signal(child: Child, number: int) -> None:
    """To the whole group: a launcher's ranks outlive it otherwise."""
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, number)
