"""ElevenLabs' addresses and errors."""

from __future__ import annotations

from typing import Any

from ttsapp.dialects.dialect import Dialect, Rendered, retry_headers
from ttsapp.errors import ApiError

# What its clients look for, where our own code has another name.
_CODES = {
    "text_timeout": "input_timeout_exceeded",
    "string_above_max_length": "max_character_limit_exceeded",
    "unknown_voice": "voice_not_found",
    "engine_full": "system_busy",
    "revoked_api_key": "invalid_api_key",
    "expired_api_key": "invalid_api_key",
    "replaced_api_key": "invalid_api_key",
    "concurrent_limit_exceeded": "too_many_concurrent_requests",
    "insufficient_quota": "quota_exceeded",
}

# `/v1/models` is OpenAI's too: see views.models_by_header.
ROOTS = (
    "/v1/text-to-speech",
    "/v1/voices",
    "/v2/voices",
    "/v1/user",
    "/v1/usage",
    "/v1/history",
    "/v1/single-use-token",
)


def code_of(error: ApiError) -> str:
    return _CODES.get(error.code, error.code)


def _render(error: ApiError) -> Rendered:
    detail: dict[str, Any] = {"status": code_of(error), "message": error.message}
    if error.field is not None:
        detail["param"] = error.field
    # Its clients try a 429 again.
    status = 401 if error.code == "insufficient_quota" else error.status
    return Rendered(status, {"detail": detail}, retry_headers(error))


ELEVENLABS = Dialect("elevenlabs", ROOTS, _render)
