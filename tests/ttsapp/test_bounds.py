"""What a connection may send before anyone knows whose it is, byte by byte."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import httpx
import pytest
from django.conf import settings

from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.scripted_engine import spoken
from ttsapp.server.http_protocol import HEAD_BYTES, HEAD_FIELDS

START = b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def raw(web_thread, base: str) -> Iterator[socket.socket]:
    """A connection that has said nothing yet. Whatever it does, the next client is served."""
    host, port = web_thread.address.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        yield connection
    assert httpx.get(f"{base}/livez").status_code == 200


def answer(connection: socket.socket) -> tuple[int, dict[str, str], str]:
    """All that comes until the other side closes: status, headers, error code."""
    received = b""
    while piece := connection.recv(65536):
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, json.loads(body)["error"]["code"]


def refused(connection: socket.socket, status: int, code: str) -> None:
    got, headers, got_code = answer(connection)
    assert (got, got_code) == (status, code)
    assert headers["connection"] == "close"
    assert headers["content-type"] == "application/json"
    assert len(headers["x-request-id"]) == 36


def send_until_refused(connection: socket.socket, piece: bytes, most: int) -> int:
    """How many bytes the other side took before it had enough."""
    sent = 0
    try:
        while sent < most:
            connection.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    return sent


def request(party: Party, *headers: bytes) -> bytes:
    body = json.dumps(speech()).encode()
    own = [b"Authorization: Bearer " + party.secret.encode(), b"Content-Type: application/json"]
    own += [b"Content-Length: %d" % len(body), b"Connection: close", *headers]
    return START + b"\r\n".join(own) + b"\r\n\r\n" + body


def test_it_works(raw: socket.socket, alice: Party) -> None:
    raw.sendall(request(alice))
    received = b""
    while piece := raw.recv(65536):
        received += piece
    assert received.startswith(b"HTTP/1.1 200 ")


def test_a_request_that_comes_byte_by_byte_is_whole(raw: socket.socket, alice: Party) -> None:
    for place in range(len(whole := request(alice))):
        raw.sendall(whole[place : place + 1])
    assert raw.recv(12) == b"HTTP/1.1 200"


def test_the_largest_head_that_is_taken(raw: socket.socket, alice: Party) -> None:
    bare = len(request(alice, b"X-Filler: ")) - len(json.dumps(speech()))
    raw.sendall(request(alice, b"X-Filler: " + b"a" * (HEAD_BYTES - bare)))
    assert raw.recv(12) == b"HTTP/1.1 200"


def test_a_head_one_byte_larger(raw: socket.socket, alice: Party) -> None:
    bare = len(request(alice, b"X-Filler: ")) - len(json.dumps(speech()))
    raw.sendall(request(alice, b"X-Filler: " + b"a" * (HEAD_BYTES + 1 - bare)))
    refused(raw, 431, "headers_too_large")


@pytest.mark.parametrize(
    "start",
    [START + b"X-Long: ", b"GET /" + b"a" * 100, START + b"X" * 100],
    ids=["value", "path", "name"],
)
def test_a_head_without_end(raw: socket.socket, start: bytes) -> None:
    raw.sendall(start + b"a" * (HEAD_BYTES + 1))
    refused(raw, 431, "headers_too_large")


def test_what_follows_a_refused_head_costs_nothing(web_thread, base: str, raw) -> None:
    """A hundred megabytes of one header; the loop serves others meanwhile."""
    raw.sendall(START + b"X-Long: ")
    sent = send_until_refused(raw, b"a" * 65536, 1600 * 65536)
    assert sent < 1600 * 65536 or answer(raw)[0] == 431


def test_as_many_headers_as_are_taken(raw: socket.socket, alice: Party) -> None:
    rest = HEAD_FIELDS - 5  # Host and those that `request` writes
    raw.sendall(request(alice, *(b"X-%d: 1" % place for place in range(rest))))
    assert raw.recv(12) == b"HTTP/1.1 200"


def test_one_header_more(raw: socket.socket, alice: Party) -> None:
    rest = HEAD_FIELDS - 4
    raw.sendall(request(alice, *(b"X-%d: 1" % place for place in range(rest))))
    refused(raw, 431, "headers_too_large")


def test_trailers_without_end(raw: socket.socket) -> None:
    raw.sendall(START + b"Transfer-Encoding: chunked\r\n\r\n0\r\n")
    send_until_refused(raw, b"X-Trailer: " + b"a" * 1000 + b"\r\n", 10 * HEAD_BYTES)
    refused(raw, 400, "invalid_http")


def test_trailers_are_not_headers(raw: socket.socket, alice: Party) -> None:
    body = json.dumps(speech()).encode()
    chunked = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    late_key = b"Authorization: Bearer " + alice.secret.encode() + b"\r\n\r\n"
    start = START + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    raw.sendall(start + chunked + late_key)
    assert raw.recv(12) == b"HTTP/1.1 401"


def test_a_body_in_the_smallest_chunks_is_whole(raw: socket.socket, alice: Party) -> None:
    body = json.dumps(speech()).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    own = b"Authorization: Bearer " + alice.secret.encode() + b"\r\n"
    start = START + own + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    raw.sendall(start + chunks + b"0\r\n\r\n")
    assert raw.recv(12) == b"HTTP/1.1 200"


def test_a_head_that_never_ends_in_time(raw: socket.socket, monkeypatch) -> None:
    monkeypatch.setattr(settings, "HEAD_SECONDS", 0.2)
    raw.sendall(START)
    refused(raw, 408, "request_timeout")


def test_a_body_that_never_comes(raw: socket.socket, monkeypatch) -> None:
    monkeypatch.setattr(settings, "BODY_SECONDS", 0.2)
    raw.sendall(START + b"Content-Length: 10\r\n\r\n12345")
    refused(raw, 408, "request_timeout")


def test_a_slow_body_is_not_saved_by_its_drops(raw: socket.socket, monkeypatch) -> None:
    monkeypatch.setattr(settings, "BODY_SECONDS", 0.3)
    raw.sendall(START + b"Content-Length: 1000\r\n\r\n")
    raw.settimeout(0.05)
    received = b""
    for _ in range(100):
        try:
            raw.sendall(b"x")
            received += raw.recv(65536)
        except (TimeoutError, BrokenPipeError):
            pass
        if received:
            break
    assert received.startswith(b"HTTP/1.1 408 ")


def test_a_connection_that_says_nothing_is_closed(
    web_thread, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "HEAD_SECONDS", 0.1)
    host, port = web_thread.address.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as silent:
        assert silent.recv(1) == b""


def test_what_is_no_http(raw: socket.socket) -> None:
    raw.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    refused(raw, 400, "invalid_http")


def test_a_second_request_behind_the_first(raw: socket.socket, alice: Party) -> None:
    first = request(alice).replace(b"Connection: close", b"X-Kept: alive")
    raw.sendall(first + request(alice))
    received = b""
    while piece := raw.recv(65536):
        received += piece
    assert received.count(b"HTTP/1.1 200 OK") == 2
    assert received.count(spoken(1)) == 2


def test_a_slow_second_request_does_not_end_the_first(
    raw: socket.socket, alice: Party, engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "HEAD_SECONDS", 0.1)
    engine.script.hold_after = 2
    raw.sendall(request(alice).replace(b"Connection: close", b"X-Kept: alive") + START)
    assert engine.wait_for_stream().reached.wait(10)
    assert not engine.heard[0].ended.wait(0.5)
    engine.release.set()
    received = b""
    while b"0\r\n\r\n" not in received:
        received += raw.recv(65536)
    assert received.startswith(b"HTTP/1.1 200 ")
