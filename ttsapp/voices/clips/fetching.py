"""A recording that is named instead of sent: as a data URL, or by an https address.

An address is a request that we make for a stranger: it may lead to nothing inside our own network,
neither by its name, nor by what its name resolves to, nor by a redirect."""

from __future__ import annotations

import asyncio
import base64
import binascii
import http.client
import re
import socket
import ssl
import time
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

from ttsapp.errors import ApiError, invalid
from ttsapp.voices.clips.decoding import MOST_BYTES

SECONDS = 10.0
_CHUNK = 64 * 1024
_TRANSLATED = IPv6Network("64:ff9b::/96")
_DATA = re.compile(r"data:(?:audio|video|application)/[\w.+-]{1,50}(?:;[\w.+=-]{1,50})*;base64,")


async def recording_of(address: str, field: str) -> bytes:
    """The bytes behind a data URL or an https address. Raises ApiError 400 or 413 on `field`."""
    if found := _DATA.match(address):
        return _unpacked(address[found.end() :], field)
    if address.startswith("data:"):
        message = f"{field} must be data:audio/wav;base64,… or another type of audio."
        raise invalid(message, field)
    place = _checked(address, field)
    try:
        async with asyncio.timeout(SECONDS):
            return await asyncio.to_thread(_fetched, place, field)
    except TimeoutError:
        raise _unreachable(field) from None


def _unpacked(encoded: str, field: str) -> bytes:
    if len(encoded) * 3 // 4 > MOST_BYTES + 2:
        raise _too_large(field)
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(f"{field} is not valid base64.", field) from None


def _checked(address: str, field: str) -> SplitResult:
    try:
        place = urlsplit(address)
        host, port = place.hostname, place.port
    except ValueError:
        host, port, place = None, None, urlsplit("")
    if place.scheme != "https" or not host or place.username or place.password:
        message = f"{field} must be an https address without a password, or a data URL."
        raise invalid(message, field)
    if port not in (None, 443):
        raise invalid(f"{field} must be at the usual port of https.", field)
    return place


def _fetched(place: SplitResult, field: str) -> bytes:
    host = place.hostname or ""
    connection = _Pinned(host, _public_address(host, field))
    try:
        connection.request("GET", place._replace(scheme="", netloc="").geturl() or "/")
        response = connection.getresponse()
        if 300 <= response.status < 400:
            message = f"{field} leads elsewhere: send the address that it redirects to."
            raise invalid(message, field, "address_redirects")
        if response.status != 200:
            raise _unreachable(field)
        content = _read(response, field)
    except (OSError, http.client.HTTPException, ValueError):
        raise _unreachable(field) from None
    finally:
        connection.close()
    if len(content) > MOST_BYTES:
        raise _too_large(field)
    return content


def _read(response: http.client.HTTPResponse, field: str) -> bytes:
    """No more than is taken, and no longer than is waited for: a byte now and then holds no thread.
    Raises ApiError 400."""
    content, deadline = bytearray(), time.monotonic() + SECONDS
    while len(content) <= MOST_BYTES and (part := response.read1(_CHUNK)):
        content += part
        if time.monotonic() > deadline:
            raise _unreachable(field)
    return bytes(content)


def _public_address(host: str, field: str) -> str:
    """What the name stands for, asked once: the connection goes to this and not to what the name
    may stand for a moment later. Raises ApiError 400 unless all of it is public."""
    try:
        found = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _unreachable(field) from None
    addresses = [str(entry[4][0]) for entry in found]
    if not all(is_public(address) for address in addresses):
        message = f"{field} leads into a private network: send a public address, or a data URL."
        raise invalid(message, field, "address_not_allowed")
    return addresses[0]


def is_public(address: str) -> bool:
    """Also of the IPv4 address that an IPv6 one stands for."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is None and found in _TRANSLATED:
            inner = IPv4Address(int(found) & 0xFFFF_FFFF)
        if inner is not None and not is_public(str(inner)):
            return False
    return found.is_global and not found.is_multicast


class _Pinned(http.client.HTTPSConnection):
    """To an address that was looked at, for a name that the certificate must carry."""

    def __init__(self, host: str, address: str) -> None:
        super().__init__(host, timeout=SECONDS, context=ssl.create_default_context())
        self._address = address

    def connect(self) -> None:
        plain = socket.create_connection((self._address, 443), SECONDS)
        context = ssl.create_default_context()
        self.sock = context.wrap_socket(plain, server_hostname=self.host)


def _unreachable(field: str) -> ApiError:
    message = f"{field} cannot be fetched: check that anyone may read it, or send a data URL."
    return invalid(message, field, "address_unreachable")


def _too_large(field: str) -> ApiError:
    message = f"{field} is too large: {MOST_BYTES} bytes are the most."
    return ApiError(413, "file_too_large", message, field=field)
