"""Keeps one core alive: starts it, watches it, restarts it with back-off, ends what it held."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import msgspec
import structlog

from gpu_engine import messages as m
from gpu_engine.config import TalkerConfig
from gpu_engine.errors import EngineError
from gpu_engine.server.link import Link, socket_address
from gpu_engine.server.settings import EngineSettings

log = structlog.get_logger()

FIRST_PAUSE, LONGEST_PAUSE, STABLE_S = 0.1, 5.0, 30.0
STOP_S = 3.0
LOOK_S = 0.5


class State(StrEnum):
    STARTING = "starting"
    READY = "ready"
    DRAINING = "draining"
    SILENT = "silent"
    DOWN = "down"


class StartupError(Exception):
    """The first core could not start; the message says why, in a line."""


@dataclass(slots=True)
class Core:
    """One incarnation of the core process."""

    process: Process
    link: Link
    reading: asyncio.Task[None]
    ready: m.CoreReady | None = None
    failure: str = ""
    status: m.CoreStatus | None = None
    heard_at: float = field(default_factory=time.monotonic)


class Supervisor:
    """`changed` is called on every change of `state`, from the event loop."""

    def __init__(
        self, settings: EngineSettings, talker: TalkerConfig, changed: Callable[[State], None]
    ) -> None:
        self._settings, self._talker, self._changed = settings, talker, changed
        self._folder = tempfile.TemporaryDirectory(prefix=f"parlance-{os.getpid()}-")
        self._core: Core | None = None
        self._known: m.CoreReady | None = None
        self._state = State.STARTING
        self._drained = False
        self.restarts = 0

    # ---- what the front asks

    @property
    def state(self) -> State:
        """A drained engine is draining for as long as it could do otherwise."""
        return State.DRAINING if self._drained and self._state is State.READY else self._state

    @property
    def link(self) -> Link:
        """For new work: the socket to a core that is ready. Raises EngineError, retryable, when
        there is none, or when it takes no more."""
        if self._drained:
            problem = "the engine is drained: it is not ready for new work until it is undrained"
            raise _unavailable("engine_draining", problem)
        return self.control

    @property
    def control(self) -> Link:
        """The same for who runs the engine, drained or not."""
        if self._state is State.DRAINING:
            raise _unavailable("engine_draining", "the engine is shutting down")
        if self._state is State.SILENT:
            raise _unavailable("engine_down", "the engine does not answer")
        if self._core is None or self._core.ready is None:
            raise _unavailable("engine_down", "the engine is starting or restarting")
        return self._core.link

    @property
    def known(self) -> m.CoreReady | None:
        """What the newest ready core said of itself."""
        return self._known

    @property
    def status(self) -> m.CoreStatus | None:
        return self._core.status if self._core else None

    @property
    def sent(self) -> m.WaitTimes | None:
        """How long audio waited for its way out."""
        return self._core.link.sent() if self._core else None

    # ---- life

    async def run(self) -> None:
        """Until cancelled. Raises StartupError when the very first core does not come up."""
        pause = FIRST_PAUSE
        while True:
            began = time.monotonic()
            core = await self._start()
            try:
                await self._watch(core)
            finally:
                await self._bury(core)
            if self._known is None:
                code = core.process.returncode
                raise StartupError(core.failure or f"the core exited with code {code}")
            self.restarts += 1
            pause = FIRST_PAUSE if time.monotonic() - began > STABLE_S else pause
            code, why = core.process.returncode, core.failure
            log.error("core died", code=code, why=why, restart_in=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def drain(self, drained: bool) -> bool:
        """Takes no new work, or takes it again; what runs goes on. Whether it was drained."""
        was_drained, self._drained = self._drained, drained
        self._changed(self.state)
        return was_drained

    def shut(self) -> None:
        """For good: the process is about to end."""
        self._turn(State.DRAINING)

    async def _start(self) -> Core:
        address = socket_address(Path(self._folder.name), self.restarts)
        link = Link(address, self._settings.unread_limit)
        arguments = msgspec.json.encode(self._settings).decode()
        # The core watches its standard input: it ends when this process does, however that ends.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "gpu_engine.server.core", address, arguments, stdin=PIPE
        )
        core = Core(process, link, asyncio.create_task(link.receive(self._notice)))
        self._core = core
        return core

    async def _watch(self, core: Core) -> None:
        gone = asyncio.create_task(core.process.wait())
        try:
            while not gone.done():
                await asyncio.wait({gone, core.reading}, timeout=LOOK_S)
                if core.reading.done() and not gone.done():
                    log.error("core says what nobody understands", error=core.reading.exception())
                    core.process.kill()
                    await gone
                if not gone.done() and self._hangs(core):
                    core.process.kill()
        finally:
            gone.cancel()

    def _hangs(self, core: Core) -> bool:
        """Looks at how long the core has said nothing, and tells health before it is too long."""
        silent = time.monotonic() - core.heard_at
        if core.ready is None:
            limit = self._settings.start_limit
        else:
            quiet, limit = self._settings.silence(core.ready.device, self._talker)
            if silent > quiet and self._state is State.READY:
                log.error("core is silent", seconds=round(silent))
                self._turn(State.SILENT)
        if silent > limit:
            log.error("core hangs", silent_seconds=round(silent))
        return silent > limit

    async def _bury(self, core: Core) -> None:
        self._core = None
        if self._state is not State.DRAINING:
            self._turn(State.DOWN)
        core.link.fail_all("engine_restarted", "the engine restarted while it spoke this text")
        await _end(core.process)
        core.reading.cancel()
        await asyncio.wait({core.reading})
        core.link.shut()

    def close(self) -> None:
        self._folder.cleanup()

    def _notice(self, message: m.ToFront) -> None:
        core = self._core
        if core is None:
            return
        core.heard_at = time.monotonic()
        if self._state is State.SILENT:
            self._turn(State.READY)
        match message:
            case m.CoreReady():
                core.ready = self._known = message
                self._turn(State.READY)
            case m.CoreFailed():
                core.failure = message.message
            case m.CoreStatus():
                core.status = message

    def _turn(self, state: State) -> None:
        if self._state is not State.DRAINING:
            self._state = state
            self._changed(self.state)


async def _end(process: Process) -> None:
    """Asks by closing the core's standard input, then insists."""
    if process.stdin is not None:
        process.stdin.close()
    if process.returncode is None:
        try:
            await asyncio.wait_for(process.wait(), STOP_S)
        except TimeoutError:
            process.kill()
            await process.wait()


def _unavailable(code: str, message: str) -> EngineError:
    return EngineError(code, message, retryable=True, retry_after_ms=1000)
