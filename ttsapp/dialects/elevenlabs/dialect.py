"""ElevenLabs' addresses and errors."""

from __future__ import annotations

from typing import Any

from ttsapp.dialects.dialect import Dialect, Rendered, retry_headers
from ttsapp.errors import ApiError

# What its clients look for, where our own code has another name.
_CODES = {
    "engine_full": "system_busy",
    "expired_api_key": "invalid_api_key",
    "insufficient_quota": "quota_exceeded",
    "replaced_api_key": "invalid_api_key",
    "request_not_found": "history_item_not_found",
    "revoked_api_key": "invalid_api_key",
    "string_above_max_length": "max_character_limit_exceeded",
    "text_timeout": "input_timeout_exceeded",
    "too_many_contexts": "max_active_conversations",
    "unknown_voice": "voice_not_found",
}

# `/v1/models` is OpenAI's too: see views.models_by_header.
ROOTS = (
    "/v1/text-to-speech",
    "/v1/voices",
    "/v2",
    "/v1/user",
    "/v1/usage",
    "/v1/history",
    "/v1/single-use-token",
)


def code_of(error: ApiError) -> str:
    return _CODES.get(error.code, error.code)


def _render(error: ApiError) -> Rendered:
    if error.status == 422:
        fault = {"loc": ["body", error.field], "msg": error.message, "type": error.code}
        return Rendered(422, {"detail": [fault]})
    detail: dict[str, Any] = {"status": code_of(error), "message": error.message}
    if error.field is not None:
        detail["param"] = error.field
    # Its clients try a 429 again.
    status = 401 if error.code == "insufficient_quota" else error.status
    return Rendered(status, {"detail": detail}, retry_headers(error))


ELEVENLABS = Dialect("elevenlabs", ROOTS, _render, "xi-api-key: KEY")
