"""What the engine says went wrong, as the control plane's own error."""

from __future__ import annotations

import grpc
import structlog

from gpu_engine.proto import engine_pb2
from ttsapp.errors import ApiError

log = structlog.get_logger()

# The engine's names for what tenants know under another.
_FIELDS = {"text": "input"}
RETRY_AFTER_MS = 1000
# INTERNAL is also what a write to a stream that the engine has just ended turns into.
_GONE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL)


def unavailable() -> ApiError:
    message = "The speech engine is not available right now."
    return ApiError(503, "engine_unavailable", message, retry_after_ms=RETRY_AFTER_MS)


def stalled() -> ApiError:
    message = "The speech engine took too long to answer."
    return ApiError(504, "engine_timeout", message, retry_after_ms=RETRY_AFTER_MS)


def empty() -> ApiError:
    message = "The speech engine ended without making a sound. Please try again."
    return ApiError(503, "no_audio", message, retry_after_ms=RETRY_AFTER_MS)


def from_event(error: engine_pb2.Error) -> ApiError:
    """A refusal of this request is the tenant's 400; everything else is ours."""
    if error.code == "invalid_request":
        field = _FIELDS.get(error.field, error.field)
        return ApiError(400, "invalid_value", error.message, field=field or None)
    if error.retryable:
        wait = error.retry_after_ms or RETRY_AFTER_MS
        return ApiError(503, error.code, error.message, retry_after_ms=wait)
    return ApiError(500, error.code or "engine_error", error.message)


def from_rpc(error: grpc.aio.AioRpcError) -> ApiError:
    """The link itself failed: the engine is away, or went away, or ran out of time."""
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return stalled()
    if error.code() in _GONE:
        return unavailable()
    log.error("engine call failed", grpc=error.code().name, details=error.details())
    return ApiError(500, "engine_error", "The speech engine failed.")
