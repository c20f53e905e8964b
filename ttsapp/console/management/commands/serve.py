"""The web server, with the flags that streaming audio needs."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn
from django.core.management.base import BaseCommand, CommandParser
from uvicorn.supervisors import Multiprocess

# 64 KiB is 1.4 s of PCM: more in the kernel would be audio that nobody hears and somebody pays.
SEND_BUFFER_BYTES = 64 * 1024
LARGEST_SOCKET_MESSAGE = 1024 * 1024
GRACE_SECONDS = 10


class Command(BaseCommand):
    help = "Serve the API and the console."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000, help="0: a free one")
        parser.add_argument("--workers", type=int, default=1, help="processes, about one a core")

    def handle(self, *args: Any, **options: Any) -> None:
        config = uvicorn.Config(
            "ttsapp.asgi:application",
            host=options["host"],
            port=options["port"],
            workers=options["workers"],
            ws="websockets-sansio",
            ws_max_size=LARGEST_SOCKET_MESSAGE,
            ws_per_message_deflate=False,
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        listener = config.bind_socket()
        # Connections inherit it from the listener.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        if options["workers"] > 1:
            Multiprocess(config, sockets=[listener]).run()
        else:
            uvicorn.Server(config).run(sockets=[listener])
