"""The ASGI application: Django for HTTP, Channels for WebSockets, a tidy start and end."""

from __future__ import annotations

import os
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsapp.settings")
django.setup(set_prefix=False)

# Models can only be imported once Django is set up.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from django.core.signals import request_started  # noqa: E402
from django.db import close_old_connections, reset_queries  # noqa: E402
from django.urls import path  # noqa: E402

from ttsapp.console.live.socket import EnginesSocket  # noqa: E402
from ttsapp.dialects.cartesia.sockets import ContextsSocket  # noqa: E402
from ttsapp.dialects.dashscope.sockets import RealtimeSocket  # noqa: E402
from ttsapp.dialects.deepgram.sockets import SpeakSocket  # noqa: E402
from ttsapp.dialects.elevenlabs.contexts import MultiStreamSocket  # noqa: E402
from ttsapp.dialects.elevenlabs.sockets import StreamInputSocket  # noqa: E402
from ttsapp.dialects.openai.sockets import SpeechSocket  # noqa: E402
from ttsapp.edge import BodyLimit, Lifespan, PagesAndApi, RefuseUnknownSockets  # noqa: E402
from ttsapp.voices.uploads import body_limit  # noqa: E402

# The loop waits so long for a database thread that computes: with Python's 5 ms, audio would too.
sys.setswitchinterval(0.0005)

# A page's thread is new and so are its connections: there is nothing old to close when it begins,
# while a synchronous receiver would cost every API request a thread hop before its first audio.
request_started.disconnect(close_old_connections)
request_started.disconnect(reset_queries)

# Channels routes ASGI applications with Django's patterns, whose types speak of views only.
_route: Any = path
_VOICE = "v1/text-to-speech/<str:voice_id>"


def _of_people(socket: Any) -> Any:
    """With the session's cookie, which browsers also send for pages of others: hence the check."""
    return AllowedHostsOriginValidator(AuthMiddlewareStack(socket))


# API sockets are not wrapped in an origin check: server-side clients send no Origin.
_sockets = URLRouter(
    [
        _route("v1/audio/speech/ws", SpeechSocket.as_asgi()),
        _route("openai/v1/audio/speech/ws", SpeechSocket.as_asgi()),
        _route("tts/websocket", ContextsSocket.as_asgi()),
        _route("cartesia/tts/websocket", ContextsSocket.as_asgi()),
        _route("api-ws/v1/realtime", RealtimeSocket.as_asgi()),
        _route("dashscope/api-ws/v1/realtime", RealtimeSocket.as_asgi()),
        _route("v1/speak", SpeakSocket.as_asgi()),
        _route("deepgram/v1/speak", SpeakSocket.as_asgi()),
        _route(f"{_VOICE}/stream-input", StreamInputSocket.as_asgi()),
        _route(f"elevenlabs/{_VOICE}/stream-input", StreamInputSocket.as_asgi()),
        _route(f"{_VOICE}/multi-stream-input", MultiStreamSocket.as_asgi()),
        _route(f"elevenlabs/{_VOICE}/multi-stream-input", MultiStreamSocket.as_asgi()),
        _route("platform/engines/live", _of_people(EnginesSocket.as_asgi())),
        _route("", RefuseUnknownSockets()),
        _route("<path:rest>", RefuseUnknownSockets()),
    ]
)

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(PagesAndApi(), body_limit),
        "websocket": _sockets,
        "lifespan": Lifespan(),
    }
)
