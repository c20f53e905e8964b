"""A real uvicorn in a thread of the test process, on the test database."""

from __future__ import annotations

import threading
import time

import uvicorn

STARTUP_SECONDS = 20


class WebThread:
    def __init__(self) -> None:
        config = uvicorn.Config(
            "ttsapp.asgi:application",
            port=0,
            ws="websockets-sansio",
            ws_max_size=1024 * 1024,
            ws_per_message_deflate=False,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
        self._server = uvicorn.Server(config)
        self._socket = config.bind_socket()
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        limit = time.monotonic() + STARTUP_SECONDS
        while not self._server.started:
            assert time.monotonic() < limit, "the web server did not start"
            time.sleep(0.01)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(STARTUP_SECONDS)
        assert not self._thread.is_alive()
