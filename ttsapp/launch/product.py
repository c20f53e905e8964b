"""The parts in their order: start, wait until they serve, replace what dies, stop."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from ttsapp.launch import access, http
from ttsapp.launch.access import Access
from ttsapp.launch.errors import LaunchError, Stopped
from ttsapp.launch.part import Part
from ttsapp.launch.plan import Plan, check_port
from ttsapp.launch.signals import Signals

PATIENCE = 300.0
POLL = 0.2
# The web server lets open streams end for 10 s, and settles them. The worker's tasks are begun
# again by the next one, so it is not waited for much longer than it needs to notice.
GRACE, WORKER_GRACE = 15.0, 2.0
NOTICEABLE = 1.0
TEMPORARY = "parlance-product-"
Tell = Callable[[str], None]


class Product:
    """`with Product(...) as product:` serves inside the block. `tell` hears each step's end."""

    def __init__(self, plan: Plan, signals: Signals, tell: Tell) -> None:
        self.plan, self._signals, self._tell = plan, signals, tell
        environment = plan.environment()
        engines = plan.engine_commands()
        names = ["engine", *(f"engine-{2 + n}" for n in range(len(engines) - 1))]
        self._prepare, self._web, self._worker, *self._engines = (
            Part(name, command, environment, plan.logs)
            for name, command in [
                ("prepare", plan.prepare_command()),
                ("web", plan.web_command()),
                ("worker", plan.worker_command()),
                *zip(names, engines, strict=True),
            ]
        )
        self._lock: IO[str] | None = None
        self._has_told_of_streams = False

    @property
    def parts(self) -> tuple[Part, ...]:
        return self._prepare, *self._engines, self._web, self._worker

    def __enter__(self) -> Product:
        """Raises LaunchError when it cannot serve: nothing is left running then."""
        self._lock = _only_one(self.plan)
        self.plan.logs.mkdir(exist_ok=True)
        check_port(self.plan.host, self.plan.port)
        self.started = time.monotonic()
        try:
            self.access = self._start()
        except BaseException:
            self._stop()
            raise
        self.start_seconds = time.monotonic() - self.started
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def watch(self) -> None:
        """Until Stopped. A part that ends is started again, thrice a minute at most."""
        while True:
            for part in (*self._engines, self._web, self._worker):
                if not part.is_running:
                    self._again(part)
            self._signals.wait(1.0)

    def wait(self, seconds: float) -> None:
        """Like a sleep that ends with Stopped."""
        self._signals.wait(seconds)

    def _start(self) -> Access:
        # Engines take longest: they load while the database is made ready.
        for engine in self._engines:
            engine.start()
        self._prepare.start()
        self._until(lambda: self._prepare.status == 0, self._prepare, *self._engines)
        self._done("database")
        self._web.start()
        url, serving = self.plan.url, (self._web, *self._engines)
        self._until(lambda: http.status(f"{url}/livez") == 200, *serving)
        self._done("web server")
        self._until(lambda: http.status(f"{url}/readyz") == 200, *serving)
        self._done("engine")
        self._worker.start()
        return self._checked(access.read(self.plan.data / access.FILE))

    def _checked(self, known: Access) -> Access:
        """Without a key that has been revoked since it was kept."""
        headers = {"Authorization": f"Bearer {known.key}"}
        if known.key and http.status(f"{self.plan.url}/v1/models", headers) != 200:
            return replace(known, key=None)
        return known

    def _until(self, is_done: Callable[[], Any], *parts: Part) -> None:
        limit = time.monotonic() + PATIENCE
        while not is_done():
            for part in parts:
                if part.status not in (None, 0):
                    raise LaunchError(_obituary(part))
            if time.monotonic() > limit:
                logs = self.plan.logs
                raise LaunchError(f"Not ready after {PATIENCE:.0f} s. Logs: {logs}")
            self._signals.wait(POLL)

    def _again(self, part: Part) -> None:
        if not part.may_restart():
            raise LaunchError(_obituary(part))
        self._tell(f"{part.name} ended with status {part.status}: starting it again ({part.log})")
        part.kill()
        part.start()

    def _done(self, step: str) -> None:
        self._tell(f"{step} after {time.monotonic() - self.started:.1f} s")

    def _stop(self) -> None:
        """All at once, but for the engines: open streams need them. A second signal hurries all."""
        try:
            self._end({self._web: GRACE, self._worker: WORKER_GRACE, self._prepare: WORKER_GRACE})
            self._end(dict.fromkeys(self._engines, GRACE))
        except Stopped:
            self._tell("not waiting any longer")
        for part in self.parts:
            part.kill()
        if self._lock is not None:
            self._lock.close()

    def _end(self, parts: dict[Part, float]) -> None:
        """Together, each within its seconds."""
        begun = time.monotonic()
        for part in parts:
            part.ask_to_end()
        while parts := {part: limit for part, limit in parts.items() if part.is_running}:
            waited = time.monotonic() - begun
            for part in [part for part, limit in parts.items() if waited > limit]:
                part.kill()
            if self._web in parts and waited > NOTICEABLE and not self._has_told_of_streams:
                self._has_told_of_streams = True
                self._tell("open streams may end within 10 s; Ctrl-C again stops at once")
            self._signals.wait(POLL)


def _only_one(plan: Plan) -> IO[str]:
    """The data folder's lock. Raises LaunchError where another product holds it."""
    try:
        plan.data.mkdir(parents=True, exist_ok=True)
        plan.data.chmod(0o700)  # database and logs are the operator's alone
        file = (plan.data / "run.lock").open("a+", encoding="utf-8")
    except OSError as error:
        reason = f"PARLANCE_DATA={plan.data} cannot be the data folder ({error.strerror})."
        raise LaunchError(reason) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip()
        raise LaunchError(f"Parlance runs already in {plan.data} (process {owner}).") from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def remove_abandoned() -> None:
    """Temporary data folders whose product was killed: theirs is a lock that nobody holds."""
    for lock in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*/run.lock"):
        try:
            with lock.open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
        except OSError:
            continue  # in use, or another person's


def _obituary(part: Part) -> str:
    return f"{part.name} ended with status {part.status}. Its last words ({part.log}):\n" + (
        part.last_words() or "(none)"
    )
