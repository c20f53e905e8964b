"""What the engine says went wrong, as the control plane's own error."""

from __future__ import annotations

import grpc
import structlog

from gpu_engine.proto import engine_pb2
from ttsapp.errors import ApiError

log = structlog.get_logger()

RETRY_AFTER_MS = 1000
# What another engine might not say.
DRAINING = "engine_draining"
ENGINE_BUSY = frozenset(
    {"engine_full", "engine_down", "engine_restarted", DRAINING, "engine_unavailable"}
)
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


def cut_before_sound() -> ApiError:
    message = "max_new_tokens ended the speech before anything was heard: send more, or none."
    return ApiError(400, "invalid_value", message, field="max_new_tokens")


def from_event(error: engine_pb2.Error, text_field: str) -> ApiError:
    """What the client caused is its 4xx and names its field; everything else is ours."""
    if error.code == "invalid_request":
        called = {"text": text_field, "max_frames": "max_new_tokens"}
        field = called.get(error.field, error.field)
        return ApiError(400, "invalid_value", error.message, field=field or None)
    if error.code == "voice_outdated":
        message = "The model has changed since this voice was made: make the voice again."
        return ApiError(409, error.code, message, field="voice")
    if error.code == "voice_damaged":
        log.error("a voice's artifact is damaged", details=error.message)
        message = "This voice's data are damaged: make the voice again, or ask whoever runs this."
        return ApiError(500, error.code, message, field="voice")
    if error.code == "text_timeout":
        return text_timeout(text_field)
    if error.code == "slow_client":
        return slow_client()
    if error.retryable:
        wait = error.retry_after_ms or RETRY_AFTER_MS
        return ApiError(503, error.code, error.message, retry_after_ms=wait)
    return ApiError(500, error.code or "engine_error", error.message)


def from_refusal(error: grpc.aio.AioRpcError) -> ApiError:
    """Of a call that is no stream: the engine names its reason beside the status."""
    if not (code := code_of(error)):
        return from_rpc(error)
    told = dict(error.trailing_metadata() or ())
    said = engine_pb2.Error(
        code=code,
        message=error.details() or "The engine refuses this.",
        field=str(told.get("parlance-field", "")),
        retryable=error.code() is grpc.StatusCode.UNAVAILABLE,
    )
    return from_event(said, "text")


def code_of(error: grpc.aio.AioRpcError) -> str:
    """The engine's own reason; empty where the link failed."""
    return str(dict(error.trailing_metadata() or ()).get("parlance-code", ""))


def text_timeout(text_field: str) -> ApiError:
    message = "No more text came, and no end of it. Send text, or say that it has ended."
    return ApiError(408, "text_timeout", message, field=text_field)


def slow_client() -> ApiError:
    message = "The audio was not read in time. Read it as it comes, and cancel what is not wanted."
    return ApiError(408, "slow_client", message)


def too_long(seconds: int) -> ApiError:
    message = f"Speech may last {seconds} seconds from its request to its end. Send less at once."
    return ApiError(408, "stream_too_long", message)


def too_long_whole(seconds: int, text_field: str) -> ApiError:
    message = f"An answer that is sent whole may last {seconds} seconds. "
    message += "Ask for it as a stream, or send the text in several requests."
    return ApiError(400, "audio_too_long", message, field=text_field)


def from_rpc(error: grpc.aio.AioRpcError) -> ApiError:
    """The link itself failed: the engine is away, or went away, or ran out of time."""
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return stalled()
    if error.code() in _GONE:
        return unavailable()
    log.error("engine call failed", grpc=error.code().name, details=error.details())
    return ApiError(500, "engine_error", "The speech engine failed.")
