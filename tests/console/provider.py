"""A small OpenID Connect provider: real HTTP, one person, answers as it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs


class Provider(HTTPServer):
    """`person`: what it says of whoever signs in; None refuses the code."""

    def __init__(self) -> None:
        self.person: dict[str, str] | None = {"sub": "42", "preferred_username": "dora"}
        self.asked: list[dict[str, list[str]]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def configuration(self) -> dict[str, str]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/person",
            "jwks_uri": f"{self.issuer}/keys",
        }


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        is_person = self.path == "/person"
        self._answer(200, self.server.person if is_person else self.server.configuration())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append(parse_qs(body.decode()))
        if self.server.person is None:
            self._answer(400, {"error": "invalid_grant"})
        else:
            self._answer(200, {"access_token": "token", "token_type": "Bearer"})

    def _answer(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Silent."""


@contextmanager
def provider() -> Iterator[Provider]:
    with Provider() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()
