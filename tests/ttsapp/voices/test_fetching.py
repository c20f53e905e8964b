"""Addresses that a tenant names are fetched from the public network alone."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from ttsapp import outgoing
from ttsapp.errors import ApiError
from ttsapp.voices.clips import fetching
from ttsapp.voices.clips.decoding import MOST_BYTES
from ttsapp.voices.clips.fetching import recording_of


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
        ("https://[::127.0.0.1]/", "address_not_allowed"),
        ("https://example.com/a\tb.wav", "invalid_value"),
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


async def test_a_public_address_of_version_6_is_only_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its last part is not taken for a port."""
    called: list[tuple[Any, ...]] = []

    def nobody(*place: Any) -> socket.socket:
        called.append(place)
        raise ConnectionRefusedError

    monkeypatch.setattr(outgoing, "_connected", nobody)
    with pytest.raises(ApiError) as refused:
        await recording_of("https://[2606:4700::6810:84e5]/a.wav", "ref_audio")
    assert refused.value.code == "address_unreachable"
    assert called == [("2606:4700::6810:84e5", 443, fetching.SECONDS)]


async def test_a_public_file_is_fetched(elsewhere: dict[str, Any]) -> None:
    elsewhere["body"] = b"RIFF" * 50_000
    assert await recording_of("https://example.com/a.wav", "ref_audio") == b"RIFF" * 50_000


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"status": 302, "headers": {"Location": "https://10.0.0.1/"}}, "address_redirects"),
        ({"status": 404}, "address_unreachable"),
        ({"body": bytes(MOST_BYTES + 1)}, "file_too_large"),
    ],
)
async def test_an_answer_that_is_none(
    elsewhere: dict[str, Any], answer: dict[str, Any], code: str
) -> None:
    elsewhere.update(answer)
    with pytest.raises(ApiError) as refused:
        await recording_of("https://example.com/a.wav", "ref_audio")
    assert refused.value.code == code


def test_a_byte_now_and_then_is_not_waited_for(
    elsewhere: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 0.0)
    elsewhere["body"] = b"RIFF"
    with pytest.raises(ApiError) as refused:
        fetching._fetched(urlsplit("http://example.com/a.wav"), "ref_audio")
    assert (refused.value.status, refused.value.code) == (503, "address_timeout")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (socket.gaierror(socket.EAI_AGAIN, "later"), (503, "address_timeout")),
        (TimeoutError("connecting"), (503, "address_timeout")),
        (socket.gaierror(socket.EAI_NONAME, "no such name"), (400, "address_unreachable")),
        (ConnectionRefusedError(), (400, "address_unreachable")),
    ],
)
async def test_what_passes_and_what_does_not(
    monkeypatch: pytest.MonkeyPatch, error: OSError, told: tuple[int, str]
) -> None:
    def broken(*_: Any) -> str:
        raise error

    monkeypatch.setattr(outgoing, "_address", broken)
    with pytest.raises(ApiError) as refused:
        await recording_of("https://example.com/a.wav", "ref_audio")
    assert (refused.value.status, refused.value.code) == told
