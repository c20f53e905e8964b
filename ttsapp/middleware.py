"""The middleware chain, native to asyncio from end to end. The API has only its outermost layer:
see ttsapp/edge.py."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.security import SecurityMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware

from ttsapp import context, ids
from ttsapp.dialects import registry
from ttsapp.errors import ApiError
from ttsapp.hosts import check_request_host
from ttsapp.http import error_response, is_api, is_health

Next = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

log = structlog.get_logger()

# No inline script or style anywhere; the player reads its audio through fetch.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; media-src 'self' blob:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


class RequestContext:
    """Outermost: mints the request id, checks the host, writes the access line."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Next) -> None:
        self._next = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.monotonic()
        context.arrived_at.set(started)
        request_id = ids.uuid7()
        context.request_id.set(request_id)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=str(request_id))
        response = self._refuse_host(request) or await self._next(request)
        response["x-request-id"] = str(request_id)
        response.setdefault("X-Content-Type-Options", "nosniff")
        if isinstance(response, HttpResponse):
            response.setdefault("Content-Length", str(len(response.content)))
        milliseconds = round((time.monotonic() - started) * 1000, 1)
        # In the request's own context, but behind the answer's first bytes.
        asyncio.get_running_loop().call_soon(_write_access_line, request, response, milliseconds)
        return response

    def _refuse_host(self, request: HttpRequest) -> HttpResponse | None:
        # Health probes come by address, whatever that is.
        if is_health(request.path_info):
            return None
        try:
            check_request_host(request)
        except ApiError as error:
            return error_response(error, registry.of(request.path_info))
        return None


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """The pages' few small files, from memory of where they lie."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Next) -> None:
        super().__init__(get_response)
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        found = self.files.get(request.path_info)
        if found is None:
            response: HttpResponseBase = await self.get_response(request)
            return response
        return _read(found.get_response(request.method, request.META))


class Security(SecurityMiddleware):
    """Django's security headers, and a policy that leaves nothing to inject into."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.setdefault("X-Frame-Options", "DENY")
        return super().process_response(request, response)


class Csrf(CsrfViewMiddleware):
    """Asked before every view, the API's too, which send keys and no cookies."""

    async def process_view(  # type: ignore[override]
        self, request: HttpRequest, callback: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if is_api(request.path_info):
            return None
        return super().process_view(request, callback, args, kwargs)


def _read(answer: Any) -> HttpResponse:
    content = answer.file.read() if answer.file is not None else b""
    response = HttpResponse(content, status=int(answer.status))
    del response["Content-Type"]
    for name, value in answer.headers:
        response[name] = value
    return response


def _write_access_line(
    request: HttpRequest, response: HttpResponseBase, milliseconds: float
) -> None:
    """To the first byte of the answer; the query string stays out, it may hold anything."""
    log.info(
        "request",
        method=request.method,
        path=request.path,
        status=response.status_code,
        ms=milliseconds,
    )
