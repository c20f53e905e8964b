"""uvicorn, set up for streaming audio: the one web server of the product, its tests and benches."""

from __future__ import annotations

import socket
from typing import Any, cast

import uvicorn
from django.conf import settings

# 64 KiB is 1.4 s of PCM: more in the kernel would be audio that nobody hears and somebody pays.
SEND_BUFFER_BYTES = 64 * 1024
LARGEST_SOCKET_MESSAGE = 1024 * 1024
# Behind the grace, for answers that were cut to say so: uvicorn drops what is left without a word.
LAST_WORDS_SECONDS = 2


def configuration(**options: Any) -> uvicorn.Config:
    return uvicorn.Config(
        "ttsapp.asgi:application",
        http=cast(Any, "ttsapp.server.protocols:HttpProtocol"),
        ws=cast(Any, "ttsapp.server.protocols:SocketProtocol"),
        ws_max_size=LARGEST_SOCKET_MESSAGE,
        ws_per_message_deflate=False,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=bool(settings.TRUSTED_PROXIES),
        forwarded_allow_ips=settings.TRUSTED_PROXIES,
        timeout_graceful_shutdown=settings.GRACE_SECONDS + LAST_WORDS_SECONDS,
        **options,
    )


def listener(config: uvicorn.Config) -> socket.socket:
    """Bound; connections inherit its send buffer."""
    bound = config.bind_socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    return bound
