"""Processes that do not outlive the one that started them, also when that is killed."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """In the child: SIGTERM when its parent is gone, however it went. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def end_with(parent: int) -> None:
    """The same for a child that may have lost its parent before it came to ask for this."""
    end_with_parent()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
