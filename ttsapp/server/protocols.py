"""The protocols by names that uvicorn's worker processes can load.

A worker begins as a bare interpreter and loads these before the application: the import that sets
Django up has to be the first."""

from __future__ import annotations

import ttsapp.asgi  # noqa: F401
from ttsapp.server.http_protocol import HttpProtocol
from ttsapp.server.socket_protocol import SocketProtocol

__all__ = ["HttpProtocol", "SocketProtocol"]
