"""The door to ElevenLabs' views: its headers on every answer, open to pages in browsers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ttsapp.dialects import door
from ttsapp.dialects.door import KeyedView, Rest, View
from ttsapp.dialects.elevenlabs.dialect import ELEVENLABS
from ttsapp.http import request_id
from ttsapp.keys.tokens import Scope

_EXPOSED = "request-id, character-cost, history-item-id, x-trace-id, x-request-id, retry-after"


def endpoint(*methods: str, scope: Scope | None = None) -> Callable[[KeyedView[Rest]], View[Rest]]:
    """As every dialect's, and a page may call it: keys travel in headers of their own, so that no
    page can use what its visitor's browser knows."""

    def decorate(view: KeyedView[Rest]) -> View[Rest]:
        guarded = door.endpoint(ELEVENLABS, *methods, scope=scope)(view)

        @wraps(view)
        async def opened(
            request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            if request.method == "OPTIONS" and "Origin" in request.headers:
                return _preflight(methods)
            response = await guarded(request, *args, **kwargs)
            response["request-id"] = response["x-trace-id"] = str(request_id())
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Expose-Headers"] = _EXPOSED
            return response

        return opened

    return decorate


def _preflight(methods: tuple[str, ...]) -> HttpResponse:
    response = HttpResponse(status=204)
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Allow-Methods"] = ", ".join(methods)
    response["Access-Control-Allow-Headers"] = "xi-api-key, authorization, content-type"
    response["Access-Control-Max-Age"] = "86400"
    return response
