"""Where we call strangers' addresses: in the public network alone, and not for longer than said."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from ttsapp import outgoing
from ttsapp.outgoing import is_public


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "fe80::1", "fe80::1%eth0", "::"),
        *("fc00::1", "fec0::1", "ff02::1", "2001:db8::1", "3fff::1", "5f00::1", "100::1"),
    ],
)
def test_no_address_of_a_network_of_ours(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("::127.0.0.1", "::8.8.8.8", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1"),
        *("64:ff9b::10.0.0.1", "64:ff9b:1::7f00:1", "64:ff9b:1::8.8.8.8", "2002:7f00:1::"),
        *("2001:0:4136:e378:8000:63bf:80ff:fffe", "2606:2800::5efe:10.0.0.1"),
        *("2606:2800::200:5efe:127.0.0.1",),
    ],
)
def test_no_address_of_ours_in_another_writing(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("93.184.216.34", "2606:2800:220:1::1", "2606:4700::6810:84e5"),
        *("::ffff:93.184.216.34", "64:ff9b::93.184.216.34", "2002:5db8:d822::1"),
    ],
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.fixture
def dribbling() -> Iterator[str]:
    """The address of a server that answers a byte at a time, and never ends its headers."""
    is_over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            caller, _ = server.accept()
            with caller, suppress(OSError):
                caller.sendall(b"HTTP/1.1 200 OK\r\nx: ")
                while not is_over.wait(0.02):
                    caller.sendall(b"x")

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        is_over.set()
        thread.join()


def test_who_answers_byte_by_byte_is_not_waited_for(dribbling: str) -> None:
    place = urlsplit(dribbling)
    with (
        pytest.raises(TimeoutError, match="no answer within"),
        outgoing.connection(place, 0.2, ["127.0.0.0/8"]) as connection,
    ):
        connection.request("GET", "/")
        connection.getresponse()
