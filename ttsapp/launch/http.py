"""The few HTTP calls of a launcher, on the standard library."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

# Asking is cheap, and an answer that takes longer is no good sign.
ASK_SECONDS = 5.0
SPEECH_SECONDS = 120.0


def status(url: str, headers: Mapping[str, str] | None = None) -> int:
    """The status of a GET; 0 where nobody answers."""
    try:
        with _asked("GET", url, None, headers or {}, ASK_SECONDS) as response:
            return response.status
    except (OSError, http.client.HTTPException):
        return 0


def get_json(url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """The answer's object. Raises OSError or HTTPException."""
    with _asked("GET", url, None, headers, ASK_SECONDS) as response:
        answer: dict[str, Any] = json.loads(response.read())
        return answer


@contextmanager
def posted(
    url: str, body: Mapping[str, Any], headers: Mapping[str, str]
) -> Iterator[http.client.HTTPResponse]:
    """A JSON POST whose answer is read piece by piece."""
    content = json.dumps(body).encode()
    headers = {**headers, "Content-Type": "application/json"}
    with _asked("POST", url, content, headers, SPEECH_SECONDS) as response:
        yield response


@contextmanager
def _asked(
    method: str, url: str, body: bytes | None, headers: Mapping[str, str], seconds: float
) -> Iterator[http.client.HTTPResponse]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)
    try:
        connection.request(method, parts.path, body, dict(headers))
        with connection.getresponse() as response:
            yield response
    finally:
        connection.close()
