"""DashScope's addresses and errors."""

from __future__ import annotations

from typing import Any

from ttsapp import context, ids
from ttsapp.dialects.dialect import Dialect, Rendered, retry_headers
from ttsapp.errors import ApiError

# Its codes are a family, and behind a dot what exactly it was.
_FAMILIES = {
    401: "InvalidApiKey",
    403: "AccessDenied",
    404: "NotFound",
    408: "RequestTimeOut",
    429: "Throttling",
    503: "ServiceUnavailable",
    504: "RequestTimeOut",
}
ROOTS = ("/api/v1", "/api-ws")


def code_of(error: ApiError) -> str:
    # Clients look for these two as they are.
    if error.status == 401:
        return "InvalidApiKey"
    if error.code == "model_not_found":
        return "ModelNotFound"
    usual = "InvalidParameter" if error.status < 500 else "InternalError"
    exact = "".join(word.title() for word in error.code.split("_"))
    return f"{_FAMILIES.get(error.status, usual)}.{exact}"


def error_body(error: ApiError) -> dict[str, Any]:
    request_id = str(context.request_id.get() or ids.uuid7())
    return {"code": code_of(error), "message": error.named, "request_id": request_id}


def _render(error: ApiError) -> Rendered:
    return Rendered(error.status, error_body(error), retry_headers(error))


DASHSCOPE = Dialect("dashscope", ROOTS, _render)
