"""One process of the product, with its own process group and log file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import deque
from pathlib import Path

from ttsapp.launch.plan import ROOT
from ttsapp.processes import end_with_parent

LARGEST_LOG = 10_000_000
RESTARTS, RESTART_WINDOW = 3, 60.0


class Part:
    """Starts, may start again, and leaves nothing behind when it is killed."""

    def __init__(
        self, name: str, command: list[str], environment: dict[str, str], logs: Path
    ) -> None:
        self.name = name
        self.log = logs / f"{name}.log"
        self._command, self._environment = command, environment
        self._process: subprocess.Popen[bytes] | None = None
        self._starts: deque[float] = deque(maxlen=RESTARTS + 1)
        self._log_start = 0

    def start(self) -> None:
        self._starts.append(time.monotonic())
        if self.log.exists() and self.log.stat().st_size > LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs or before it was started."""
        return None if self._process is None else self._process.poll()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def may_restart(self) -> bool:
        """Not when it has died over and over within a minute."""
        full = len(self._starts) == self._starts.maxlen
        return not full or time.monotonic() - self._starts[0] > RESTART_WINDOW

    def ask_to_end(self) -> None:
        if self._process is not None and self.is_running:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """The whole group, also what a leader that has ended left behind."""
        if self._process is None:
            return
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        else:
            self._process.wait()
        # What it would have removed itself, had it been asked to end.
        for folder in Path(tempfile.gettempdir()).glob(f"parlance-{self._process.pid}-*"):
            shutil.rmtree(folder, ignore_errors=True)

    def last_words(self, lines: int = 6) -> str:
        """The end of its log, as far as it is this start's."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            file.seek(max(self._log_start, self.log.stat().st_size - 4096))
            text = file.read().decode("utf-8", "replace")
        return "\n".join(text.strip().splitlines()[-lines:])
