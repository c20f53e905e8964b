"""The real web server in a thread of the test process, on the test database."""

from __future__ import annotations

import threading
import time

import uvicorn

from ttsapp.server import web

STARTUP_SECONDS = 20


class WebThread:
    def __init__(self) -> None:
        config = web.configuration(port=0)
        self._server = uvicorn.Server(config)
        self._socket = web.listener(config)
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        limit = time.monotonic() + STARTUP_SECONDS
        while not self._server.started:
            assert time.monotonic() < limit, "the web server did not start"
            time.sleep(0.01)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def ask_to_stop(self) -> None:
        """What SIGTERM does in a process of its own."""
        self._server.should_exit = True

    def close(self) -> None:
        self.ask_to_stop()
        self._thread.join(STARTUP_SECONDS)
        assert not self._thread.is_alive()
