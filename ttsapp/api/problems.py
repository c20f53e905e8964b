"""Errors as problem documents (RFC 9457), with a code to act on and the fields at fault."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from ttsapp import context
from ttsapp.dialects.dialect import Dialect, Rendered, retry_headers
from ttsapp.errors import ApiError

MEDIA_TYPE = "application/problem+json"

Fault = dict[str, str]


def render(error: ApiError) -> Rendered:
    faults = [fault(error.field, error.code, error.message)] if error.field else []
    return problem(error.status, error.code, error.message, faults, retry_headers(error))


# No dialect of speech; but what is refused before any view is rendered by whose address it is.
MANAGEMENT = Dialect("api", (), render)


def fault(field: str, code: str, message: str) -> Fault:
    return {"field": field, "code": code, "detail": message}


def problem(
    status: int, code: str, detail: str, faults: list[Fault], headers: Mapping[str, str]
) -> Rendered:
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "errors": faults,
        "request_id": str(context.request_id.get() or ""),
    }
    return Rendered(status, body, headers, MEDIA_TYPE)
