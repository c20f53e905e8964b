"""A socket that Alice has opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.ttsapp.conftest import Party
from tests.ttsapp.live_socket.client import PATH


@pytest.fixture
def url(base: str) -> str:
    return base.replace("http:", "ws:") + PATH


@pytest.fixture
def socket(url: str, alice: Party) -> Iterator[ClientConnection]:
    with connect(url, additional_headers=alice.headers) as client:
        yield client
