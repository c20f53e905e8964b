"""The only door to the API's views: its methods, a valid key, errors in the dialect's own shape."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ttsapp import background, database, stopping
from ttsapp.dialects import cors, registry
from ttsapp.dialects.dialect import Dialect
from ttsapp.errors import ApiError, invalid
from ttsapp.http import error_response, request_id
from ttsapp.keys import credentials
from ttsapp.keys.authentication import Caller, authenticate
from ttsapp.keys.rules import KeyScope
from ttsapp.keys.tokens import Scope
from ttsapp.speech import services

Rest = ParamSpec("Rest")
Answer = Coroutine[Any, Any, HttpResponseBase]
View = Callable[Concatenate[HttpRequest, Rest], Answer]
KeyedView = Callable[Concatenate[HttpRequest, Caller, Rest], Answer]


def endpoint(
    dialect: Dialect, *methods: str, scope: Scope | None = None
) -> Callable[[KeyedView[Rest]], View[Rest]]:
    """`scope`: what an access token must be good for to be let in beside keys."""

    def decorate(view: KeyedView[Rest]) -> View[Rest]:
        async def keyed(
            request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            credential = credentials.of_request(request)
            needs, header = _needs(request), dialect.key_header
            caller = await authenticate(credential, scope, needs=needs, key_header=header)
            return await view(request, caller, *args, **kwargs)

        return open_endpoint(dialect, *methods)(wraps(view)(keyed))

    return decorate


def open_endpoint(dialect: Dialect, *methods: str) -> Callable[[View[Rest]], View[Rest]]:
    """The same for what needs no key."""

    def decorate(view: View[Rest]) -> View[Rest]:
        @wraps(view)
        async def guarded(
            request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            if cors.is_preflight(request):
                return cors.preflight(methods)
            response = await answered(request, *args, **kwargs)
            cors.expose(response)
            return response

        async def answered(
            request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            try:
                _check_method(request, methods)
                _check_query(request)
                return await view(request, *args, **kwargs)
            except ApiError as error:
                response = error_response(error, dialect)
                if error.status == 405:
                    response["Allow"] = ", ".join(methods)
                return response
            except DataError as error:
                return error_response(database.refused(error), dialect)
            except asyncio.CancelledError:
                if not stopping.is_cut():
                    raise
                return error_response(stopping.error(), dialect)

        return guarded

    return decorate


async def nothing_here(request: HttpRequest, **_: Any) -> HttpResponse:
    """404 in the shape of the dialect whose address it is, for what else lies under its prefix."""
    message = f"There is no {request.method} {request.path[:200]} here."
    response = error_response(ApiError(404, "unknown_url", message), registry.of_request(request))
    cors.expose(response)
    return response


def note_refusal(caller: Caller, transport: str, error: ApiError) -> None:
    """A refused request to speak goes into the tenant's request log."""
    note = database.write_surely(services.log_refusal, request_id(), caller, transport, error)
    background.spawn(note)


def _needs(request: HttpRequest) -> KeyScope:
    return KeyScope.READ if request.method in ("GET", "HEAD") else KeyScope.SPEECH


def _check_method(request: HttpRequest, methods: tuple[str, ...]) -> None:
    if request.method not in methods:
        allowed = " or ".join(methods)
        message = f"Use {allowed} here, not {request.method}."
        raise ApiError(405, "method_not_allowed", message)


def _check_query(request: HttpRequest) -> None:
    if "%00" not in request.META["QUERY_STRING"]:
        return
    for name, values in request.GET.lists():
        if not all(map(database.can_hold, (name, *values))):
            raise invalid("A NUL stands for nothing in the address: leave it out.", name[:50])
