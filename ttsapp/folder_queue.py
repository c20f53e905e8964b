"""Celery's broker where there is no Redis: a folder with one file a job.

Kombu's own transport for folders writes into a file that a reader may take at any moment: an empty
job ends the worker, and what is then written is lost. Here a job has its name once it is whole.
"""

from __future__ import annotations

from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any
from uuid import uuid4

import structlog
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

SCHEME = "folder"

log = structlog.get_logger()


class Channel(filesystem.Channel):
    def _put(self, queue: str, message: Any, **_: Any) -> None:  # type: ignore[override]
        name = f"{time_ns():020}_{uuid4()}.{queue}.msg"
        whole = Path(self.data_folder_out, name)
        unfinished = whole.with_name(f"{name}.part")
        written: str = dumps(message)  # type: ignore[no-untyped-call]
        unfinished.write_text(written, "utf-8")
        unfinished.rename(whole)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """The oldest job. Raises Empty."""
        for job in sorted(Path(self.data_folder_in).iterdir()):
            if job.name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = job.with_name(f"{job.name}.taken")
            try:
                job.rename(taken)
            except FileNotFoundError:  # another worker was quicker
                continue
            written = taken.read_text("utf-8")
            taken.unlink()
            try:
                return loads(written)  # type: ignore[no-untyped-call]
            except ValueError:  # of a full disk, or of an earlier release that was cut short
                log.warning("a job that cannot be read is dropped", job=job.name)
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel


def register() -> None:
    """So that Celery knows `folder://`."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
