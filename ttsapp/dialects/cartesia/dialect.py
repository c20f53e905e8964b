"""Cartesia's addresses and errors."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from ttsapp import context, ids
from ttsapp.dialects.dialect import Dialect, Rendered, retry_headers
from ttsapp.errors import ApiError


def error_fields(error: ApiError, request_id: str) -> dict[str, Any]:
    """What an error says, over HTTP and in a message."""
    return {
        "error_code": error.code,
        "title": HTTPStatus(error.status).phrase,
        "message": error.named,
        "request_id": request_id,
    }


def _render(error: ApiError) -> Rendered:
    request_id = str(context.request_id.get() or ids.uuid7())
    return Rendered(error.status, error_fields(error, request_id), retry_headers(error))


CARTESIA = Dialect("cartesia", ("/tts", "/voices", "/access-token"), _render, "X-API-Key: KEY")
