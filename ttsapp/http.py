"""Small HTTP matters that every API shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec
from django.http import HttpRequest, HttpResponse

from ttsapp import context, ids
from ttsapp.dialects.openai import codec
from ttsapp.errors import ApiError

_API_ROOTS = ("/v1", "/openai")
_MACHINE_PATHS = ("/livez", "/readyz")


def is_api(path: str) -> bool:
    """Whether machines call this path: keys instead of sessions, JSON instead of pages."""
    under_root = any(path == root or path.startswith(f"{root}/") for root in _API_ROOTS)
    return under_root or path in _MACHINE_PATHS


def is_health(path: str) -> bool:
    return path in _MACHINE_PATHS


def request_id() -> UUID:
    """The id of the request in hand; also its usage event's and its log row's."""
    found = context.request_id.get()
    return ids.uuid7() if found is None else found


def json_response(
    data: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    content = msgspec.json.encode(data)
    return HttpResponse(content, "application/json", status=status, headers=dict(headers or {}))


def error_response(error: ApiError) -> HttpResponse:
    """An error outside any one dialect has OpenAI's shape, the one most clients can read."""
    return json_response(codec.error_body(error), error.status, codec.retry_headers(error))


def bearer(request: HttpRequest) -> str:
    return str(request.META.get("HTTP_AUTHORIZATION", ""))
