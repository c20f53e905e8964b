"""What the framework's views raise, as problems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from ttsapp import database
from ttsapp.api.problems import Fault, fault, problem, render
from ttsapp.dialects.dialect import Rendered
from ttsapp.errors import ApiError

log = structlog.get_logger()

_CODES = {
    400: "invalid_json",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    415: "unsupported_media_type",
}


def handle(error: Exception, about: dict[str, Any]) -> Response | None:
    """None for what is a fault of ours: that is logged and answered as everywhere else."""
    if isinstance(error, exceptions.ValidationError):
        return _response(_invalid(error))
    known = _known(error)
    if known is None:
        return None
    response = _response(render(known))
    if known.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def _known(error: Exception) -> ApiError | None:
    match error:
        case ApiError():
            return error
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            message = "Send a key with the scope manage (Authorization: Bearer KEY), or sign in."
            return ApiError(401, "invalid_api_key", message)
        case exceptions.APIException():
            code = _CODES.get(error.status_code, "invalid_value")
            return ApiError(error.status_code, code, str(error.detail))
        case Http404():
            return ApiError(404, "not_found", "There is nothing at this address that is yours.")
        case PermissionDenied():
            return ApiError(403, "forbidden", "You may not do this.")
        case OperationalError() | InterfaceError():
            log.error("the database does not answer", error=repr(error))
            return database.unavailable()
        case DataError():
            return database.refused(error)
    return None


def _response(rendered: Rendered) -> Response:
    return Response(
        rendered.body,
        rendered.status,
        headers=dict(rendered.headers),
        content_type=rendered.content_type,
    )


def _invalid(error: exceptions.ValidationError) -> Rendered:
    faults = list(_faults(error.get_full_details(), ""))
    is_unknown = any(one["code"] == "unknown_field" for one in faults)
    said = " ".join(f"{one['field']}: {one['detail']}" for one in faults[:5])
    return problem(400, "unknown_field" if is_unknown else "invalid_value", said, faults, {})


def _faults(details: Any, path: str) -> Iterator[Fault]:
    """The framework's tree of complaints, flat."""
    if isinstance(details, list):
        for inner in details:
            yield from _faults(inner, path)
    elif set(details) == {"message", "code"}:
        yield fault(path or "body", str(details["code"]), str(details["message"]))
    else:
        for name, inner in details.items():
            own = "" if name == "non_field_errors" else str(name)
            yield from _faults(inner, ".".join(filter(None, (path, own))))
