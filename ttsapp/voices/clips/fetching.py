"""A recording that is named instead of sent: as a data URL, or by an https address."""

from __future__ import annotations

import asyncio
import base64
import binascii
import http.client
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import SplitResult

from ttsapp import outgoing
from ttsapp.errors import ApiError, invalid
from ttsapp.voices.clips.decoding import MOST_BYTES

SECONDS = 10.0
RETRY_AFTER_MS = 5000
# What the other side answers while it is overloaded, or away behind its proxy.
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
# Of their own: addresses that are slow hold up each other alone.
_threads = ThreadPoolExecutor(8, "fetching")
_DATA = re.compile(r"data:(?:audio|video|application)/[\w.+-]{1,50}(?:;[\w.+=-]{1,50})*;base64,")


async def recording_of(address: str, field: str) -> bytes:
    """The bytes behind a data URL or an https address. Raises ApiError 400 or 413 on `field`, 503
    where it was not there in time: the same address may be there the next time."""
    if found := _DATA.match(address):
        return _unpacked(address[found.end() :], field)
    if address.startswith("data:"):
        message = f"{field} must be data:audio/wav;base64,… or another type of audio."
        raise invalid(message, field)
    place = _checked(address, field)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(SECONDS):
            return await loop.run_in_executor(_threads, _fetched, place, field)
    except TimeoutError:
        raise _late(field) from None


def _unpacked(encoded: str, field: str) -> bytes:
    if len(encoded) * 3 // 4 > MOST_BYTES + 2:
        raise _too_large(field)
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(f"{field} is not valid base64.", field) from None


def _checked(address: str, field: str) -> SplitResult:
    place = outgoing.parsed(address)
    if place is None:
        message = f"{field} must be an https address without a password, or a data URL."
        raise invalid(message, field)
    if place.port not in (None, 443):
        raise invalid(f"{field} must be at the usual port of https.", field)
    return place


def _fetched(place: SplitResult, field: str) -> bytes:
    try:
        with outgoing.connection(place, SECONDS) as connection:
            connection.request("GET", outgoing.target(place))
            response = connection.getresponse()
            if 300 <= response.status < 400:
                message = f"{field} leads elsewhere: send the address that it redirects to."
                raise invalid(message, field, "address_redirects")
            if response.status in _LATER:
                raise _late(field)
            if response.status != 200:
                raise _unreachable(field)
            content = response.read(MOST_BYTES + 1)
            if response.length and len(content) <= MOST_BYTES:
                # It broke off: half a recording is not what was named.
                raise _late(field)
    except outgoing.PrivateAddressError:
        message = f"{field} leads into a private network: send a public address, or a data URL."
        raise invalid(message, field, "address_not_allowed") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise (_late(field) if _is_passing(error) else _unreachable(field)) from None
    if len(content) > MOST_BYTES:
        raise _too_large(field)
    return content


def _is_passing(error: Exception) -> bool:
    """Whether it says nothing of the address: no answer in time, or no resolver."""
    is_unresolved = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
    return is_unresolved or isinstance(error, TimeoutError)


def _late(field: str) -> ApiError:
    message = f"{field} did not come in time: send the request again soon, or a data URL."
    return ApiError(503, "address_timeout", message, field=field, retry_after_ms=RETRY_AFTER_MS)


def _unreachable(field: str) -> ApiError:
    message = f"{field} cannot be fetched: check that anyone may read it, or send a data URL."
    return invalid(message, field, "address_unreachable")


def _too_large(field: str) -> ApiError:
    message = f"{field} is too large: {MOST_BYTES} bytes are the most. Send less of it, or flac."
    return ApiError(413, "file_too_large", message, field=field)
