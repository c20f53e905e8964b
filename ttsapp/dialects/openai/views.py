"""OpenAI's speech endpoints, and the few of our own that live beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ttsapp import background, database, stopping
from ttsapp.dialects.openai import codec, documents, events
from ttsapp.errors import ApiError
from ttsapp.http import bearer, error_response, json_response, request_id
from ttsapp.keys.authentication import Caller, authenticate
from ttsapp.speech import answers, services
from ttsapp.speech.order import Order
from ttsapp.speech.session import Session
from ttsapp.voices.selectors import catalogue

Rest = ParamSpec("Rest")
Answer = Coroutine[Any, Any, HttpResponseBase]
View = Callable[Concatenate[HttpRequest, Rest], Answer]
KeyedView = Callable[Concatenate[HttpRequest, Caller, Rest], Answer]


def endpoint(method: str) -> Callable[[KeyedView[Rest]], View[Rest]]:
    """The only door to these views: one method, a valid key, errors in OpenAI's shape."""

    def decorate(view: KeyedView[Rest]) -> View[Rest]:
        @wraps(view)
        async def guarded(
            request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            try:
                _check_method(request, method)
                caller = await authenticate(bearer(request))
                return await view(request, caller, *args, **kwargs)
            except ApiError as error:
                response = error_response(error)
                if error.status == 405:
                    response["Allow"] = method
                return response
            except asyncio.CancelledError:
                if not stopping.is_cut():
                    raise
                return error_response(stopping.error())

        return guarded

    return decorate


@endpoint("POST")
async def speech(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    order, text = await _understand(request, caller)
    session = Session(order, text)
    if order.whole:
        return await answers.whole(session)
    if order.transport == "sse":
        return await events.streamed(session)
    return await answers.streamed(session)


@endpoint("GET")
async def speech_request(request: HttpRequest, caller: Caller, wanted: UUID) -> HttpResponse:
    found = await database.read(documents.speech_request, caller.tenant_id, wanted)
    if found is None:
        message = "No such request, or it is older than this log."
        raise ApiError(404, "request_not_found", message, field="id")
    return json_response(found)


@endpoint("GET")
async def models(request: HttpRequest, caller: Caller) -> HttpResponse:
    return json_response(documents.models(await catalogue()))


@endpoint("GET")
async def model(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    served = await catalogue()
    served.model(name)
    return json_response(documents.model(name))


@endpoint("GET")
async def voices(request: HttpRequest, caller: Caller) -> HttpResponse:
    return json_response(documents.voices(await catalogue()))


async def root(request: HttpRequest) -> HttpResponse:
    """Some clients warm their connection up here before they speak."""
    return json_response({"object": "api", "name": "parlance"})


async def nothing_here(request: HttpRequest, **_: Any) -> HttpResponse:
    message = f"There is no {request.method} {request.path[:200]} here."
    return error_response(ApiError(404, "unknown_url", message))


async def _understand(request: HttpRequest, caller: Caller) -> tuple[Order, str]:
    """The order and its text. A refusal goes into the tenant's request log."""
    try:
        body = codec.parse_speech(request.META.get("CONTENT_TYPE", ""), request.body)
        order = codec.order(request_id(), caller, body, await catalogue())
    except ApiError as error:
        note = database.write_surely(services.log_refusal, request_id(), caller, "http", error)
        background.spawn(note)
        raise
    return order, body.input


def _check_method(request: HttpRequest, method: str) -> None:
    if request.method != method:
        raise ApiError(405, "method_not_allowed", f"Use {method} here, not {request.method}.")
