"""A progress bar on a terminal, and now and then a line of text where there is none."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

QUIET_SECONDS = 15.0  # between lines in a log file


class Progress:
    """Used as a context; `at` may be called as often as one likes."""

    def __init__(self, name: str, shown: bool = True) -> None:
        console = Console()
        self._name, self._shown = name, shown
        self._bar: Bar | None = None
        if shown and console.is_terminal:
            columns = "{task.description}", BarColumn(), "{task.percentage:>4.0f} %"
            self._bar = Bar(
                *columns,
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}"),
                console=console,
            )
            self._task = self._bar.add_task(name, total=1.0, note="")
        self._started, self._said = time.monotonic(), 0.0

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def at(self, share: float, note: str = "") -> None:
        """share: 0 to 1."""
        if self._bar is not None:
            self._bar.update(self._task, completed=share, note=note)
            return
        spent = time.monotonic() - self._started
        if self._shown and (spent - self._said > QUIET_SECONDS or share >= 1):
            self._said = spent
            full = round(share * 20)
            bar = "#" * full + "." * (20 - full)
            print(f"{self._name} [{bar}] {share:4.0%}  {spent:.0f} s  {note}", flush=True)
