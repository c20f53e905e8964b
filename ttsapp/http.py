"""Small HTTP matters that every API shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec
from django.http import HttpResponse

from ttsapp import context, ids
from ttsapp.dialects import registry
from ttsapp.dialects.dialect import Dialect
from ttsapp.dialects.openai.dialect import OPENAI
from ttsapp.errors import ApiError

_MACHINE_PATHS = ("/livez", "/readyz")


def is_api(path: str) -> bool:
    """Whether machines call this path: keys instead of sessions, JSON instead of pages."""
    return path in _MACHINE_PATHS or registry.find(path) is not None


def is_health(path: str) -> bool:
    return path in _MACHINE_PATHS


def request_id() -> UUID:
    """The id of the request in hand; also its usage event's and its log row's."""
    found = context.request_id.get()
    return ids.uuid7() if found is None else found


def json_response(
    data: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    return _json(data, "application/json", status, headers or {})


def error_response(error: ApiError, dialect: Dialect = OPENAI) -> HttpResponse:
    """In the dialect's own shape; outside any, in the one that most clients can read."""
    rendered = dialect.render(error)
    return _json(rendered.body, rendered.content_type, rendered.status, rendered.headers)


def _json(data: Any, kind: str, status: int, headers: Mapping[str, str]) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(data), kind, status=status, headers=dict(headers))
