"""What a tenant has its events sent to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.conf import settings


class Receiver(HTTPServer):
    """Answers with `status`, once `answers` is set, and keeps what it was sent."""

    def __init__(self) -> None:
        self.status = 204
        self.heard: list[tuple[dict[str, str], bytes]] = []
        self.answers = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.heard.append(({k.lower(): v for k, v in self.headers.items()}, body))
        self.server.answers.wait(30)
        self.send_response(self.server.status)
        self.send_header("location", "http://127.0.0.1:1/")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Silent."""


@pytest.fixture(scope="module")
def serving() -> Iterator[Receiver]:
    with Receiver() as receiver:
        thread = threading.Thread(target=receiver.serve_forever, daemon=True)
        thread.start()
        yield receiver
        receiver.shutdown()


@pytest.fixture
def receiver(serving: Receiver, monkeypatch: pytest.MonkeyPatch) -> Receiver:
    monkeypatch.setattr(settings, "WEBHOOK_NETWORKS", ["127.0.0.0/8"])
    serving.status, serving.heard = 204, []
    serving.answers.set()
    return serving
