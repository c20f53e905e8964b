"""Addresses that a tenant names are fetched from the public network alone."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from ttsapp.errors import ApiError
from ttsapp.voices.clips.fetching import is_public, recording_of


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "fe80::1", "fc00::1", "::"),
        *("::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::10.0.0.1"),
    ],
)
def test_no_address_of_a_network_of_ours(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1"])
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://example.com/a.wav", "invalid_value"),
        ("https://user:word@example.com/a.wav", "invalid_value"),
        ("https://example.com:8443/a.wav", "invalid_value"),
        ("file:///etc/passwd", "invalid_value"),
        ("gopher://example.com", "invalid_value"),
        ("https://[::1", "invalid_value"),
        ("data:text/html;base64,AAAA", "invalid_value"),
        ("data:audio/wav;base64,%%%%", "invalid_value"),
        ("data:audio/wav;base64," + "A" * 15_000_000, "file_too_large"),
        ("https://127.0.0.1/a.wav", "address_not_allowed"),
        ("https://localhost/a.wav", "address_not_allowed"),
        ("https://[::ffff:127.0.0.1]/a.wav", "address_not_allowed"),
        ("https://2130706433/a.wav", "address_not_allowed"),
    ],
)
async def test_what_is_not_fetched(address: str, code: str) -> None:
    with pytest.raises(ApiError) as refused:
        await recording_of(address, "ref_audio")
    assert (refused.value.code, refused.value.field) == (code, "ref_audio")


async def test_a_name_with_one_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that stands for both may give the second to the connection."""

    def both(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, 443)) for address in ("93.184.216.34", "10.0.0.7")]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(ApiError) as refused:
        await recording_of("https://rebind.example/a.wav", "ref_audio")
    assert refused.value.code == "address_not_allowed"
