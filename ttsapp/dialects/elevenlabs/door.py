"""The door to ElevenLabs' views: its two ids on every answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from ttsapp.dialects import door
from ttsapp.dialects.door import KeyedView, Rest, View
from ttsapp.dialects.elevenlabs.dialect import ELEVENLABS
from ttsapp.http import request_id
from ttsapp.keys.tokens import Scope


def endpoint(*methods: str, scope: Scope | None = None) -> Callable[[KeyedView[Rest]], View[Rest]]:
    def decorate(view: KeyedView[Rest]) -> View[Rest]:
        guarded = door.endpoint(ELEVENLABS, *methods, scope=scope)(view)

        @wraps(view)
        async def named(
            request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            response = await guarded(request, *args, **kwargs)
            response["request-id"] = response["x-trace-id"] = str(request_id())
            return response

        return named

    return decorate
