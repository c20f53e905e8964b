"""Why a start or a demonstration ends early."""

from __future__ import annotations


class LaunchError(Exception):
    """Says in one or two lines what went wrong and what to do."""


class Stopped(BaseException):
    """Someone asked for the end: Ctrl-C, a supervisor, a closed terminal."""
