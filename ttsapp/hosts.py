"""The host names that are served: the same for requests and for sockets."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest

from ttsapp.errors import ApiError


def check_request_host(request: HttpRequest) -> None:
    """Raises ApiError 400."""
    try:
        request.get_host()
    except DisallowedHost:
        message = "This host name is not served here: see PARLANCE_ALLOWED_HOSTS."
        raise ApiError(400, "unknown_host", message) from None


def check_host(scope: Mapping[str, Any]) -> None:
    """Of a socket's ASGI scope. Raises ApiError 400."""
    check_request_host(ASGIRequest({**scope, "method": "GET"}, BytesIO()))
