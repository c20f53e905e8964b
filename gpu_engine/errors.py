"""The engine's one error family: a public code, a message for tenants, and what to do next."""

from __future__ import annotations

from pathlib import Path


class EngineError(Exception):
    """`code` is stable and public; `field` names the offending field of a request, if any."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str = "",
        retryable: bool = False,
        retry_after_ms: int = 0,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms


class InvalidRequest(EngineError):
    """The request can never succeed as it stands."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__("invalid_request", message, field=field)


class EngineFull(EngineError):
    """An answer, not a fault: no slot now, try again after the estimate."""

    def __init__(self, retry_after_ms: int) -> None:
        message = "the engine is at capacity"
        super().__init__("engine_full", message, retryable=True, retry_after_ms=retry_after_ms)


class CheckpointError(EngineError):
    """A checkpoint directory that cannot be loaded; names the file and what is wrong with it."""

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__("bad_checkpoint", f"{file}: {problem}")
        self.file = file
