"""Where a key may stand in a request: clients of different APIs, and of the same one, differ.

What is found is given as an Authorization header's value, whatever it was found in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from django.http import HttpRequest

# ElevenLabs' clients send the first, Cartesia's in voice-agent frameworks the second.
_KEY_HEADERS = ("xi-api-key", "x-api-key")
# Browsers cannot set a socket's headers: theirs put the key into the address or a protocol's name.
KEY_PARAMETERS = ("api_key", "access_token", "authorization", "single_use_token")
_SCHEMES = ("token", "bearer")

Header = Callable[[str], str | None]


def of_request(request: HttpRequest) -> str:
    return _in_headers(request.headers.get)


def of_socket(scope: Mapping[str, Any]) -> str:
    """Headers first, then the offered subprotocols, then the query."""
    headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
    found = _in_headers(headers.get) or _in_protocols(scope.get("subprotocols", []))
    return found or _in_query(scope.get("query_string", b""))


def subprotocol(scope: Mapping[str, Any]) -> str | None:
    """The one to answer with: a browser that offered some gives up unless one is taken."""
    offered: list[str] = scope.get("subprotocols", [])
    return offered[0] if offered else None


def _in_headers(header: Header) -> str:
    if authorization := header("authorization"):
        return authorization
    found = next((key for name in _KEY_HEADERS if (key := header(name))), None)
    return f"Bearer {found}" if found else ""


def _in_protocols(offered: list[str]) -> str:
    if len(offered) == 2 and offered[0].lower() in _SCHEMES:
        return " ".join(offered)
    return ""


def _in_query(query: bytes) -> str:
    fields = parse_qs(query.decode("latin-1"))
    found = next((fields[name][0] for name in KEY_PARAMETERS if name in fields), None)
    if found is None:
        return ""
    return found if found.partition(" ")[0].lower() in _SCHEMES else f"Bearer {found}"
