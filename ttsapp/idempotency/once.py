"""A view's answer, made once for each idempotency key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from hashlib import sha256
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from ttsapp import background, database
from ttsapp.errors import ApiError, invalid
from ttsapp.http import request_id
from ttsapp.idempotency import services
from ttsapp.idempotency.services import Claim, Kept
from ttsapp.keys.authentication import Caller
from ttsapp.limits.admission import Admission

log = structlog.get_logger()

HEADER = "Idempotency-Key"
LONGEST = 255
RETRY_AFTER_MS = 1000
# An answer's end waits so long for its being kept.
KEEP_SECONDS = 5.0
# Headers that choose what an answer looks like.
_CHOOSING = ("Accept", "X-DashScope-SSE")
# What is said of the moment, not of the answer.
_FLEETING = (
    "x-ratelimit-",
    "x-parlance-streams-",
    "x-parlance-budget-",
    "x-parlance-credit-",
    "x-request-id",
)


async def once(
    request: HttpRequest, caller: Caller, answer: Callable[[], Awaitable[HttpResponseBase]]
) -> HttpResponseBase:
    """The view's own answer, or the one that it gave before under the same key. Asked for once the
    request has passed every check of its own, so that what may no longer be spoken is not replayed.

    Raises ApiError 422 for a key that was used for something else, and 409 while it is answered."""
    name = request.headers.get(HEADER)
    if name is None:
        return await answer()
    claim = Claim(caller.tenant_id, caller.key_id, _checked(name), _print(request), request_id())
    kept = await _claimed(claim)
    if kept is not None:
        replayed = _again(kept)
        left = await Admission(caller, request_id(), HEADER).look()
        for header, value in left.items():
            replayed[header] = value
        return replayed
    held = _Held(claim)
    try:
        response = await answer()
    except BaseException:
        held.release()
        raise
    return await _recorded(held, response)


async def _claimed(claim: Claim) -> Kept | None:
    try:
        return await database.write(services.claim, claim)
    except DatabaseError as error:
        log.error("the database does not answer", error=repr(error))
        raise database.unavailable() from error
    except asyncio.CancelledError:
        # Its client has left, and it may have been claimed all the same.
        _release(claim)
        raise


def _release(claim: Claim) -> None:
    """In a task that a vanished client cannot cancel."""
    background.spawn(database.write_surely(services.release, claim))


class _Held:
    """A claim of a request that is being answered: renewed until it is kept or released, or no
    answer can last so long: one that nobody began to read tells of no end."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._loop = asyncio.get_running_loop()
        self._give_up = self._loop.time() + settings.ORPHAN_SECONDS
        self._renew_later()

    async def keep(self, headers: dict[str, str], parts: list[bytes] | None) -> None:
        """An answer that cannot be kept is given all the same. `parts` None: it was too long."""
        body = b"".join(parts) if parts is not None else None
        lasting = {
            name: value for name, value in headers.items() if not name.lower().startswith(_FLEETING)
        }
        # A client that leaves now does not cancel it, and a database that is away keeps none.
        await asyncio.wait({background.spawn(self._keep(lasting, body))}, timeout=KEEP_SECONDS)

    def release(self) -> None:
        self._timer.cancel()
        _release(self._claim)

    async def _keep(self, headers: dict[str, str], body: bytes | None) -> None:
        try:
            await database.write_surely(services.keep, self._claim, headers, body)
            self._timer.cancel()  # only now: the lease must outlast the database's absence
        except DatabaseError as error:
            request = str(self._claim.request_id)
            log.error("an answer was not kept", request=request, error=str(error))
            self.release()

    def _renew_later(self) -> None:
        seconds = services.LEASE.total_seconds() / 4
        self._timer = self._loop.call_later(seconds, self._renew)

    def _renew(self) -> None:
        background.spawn(database.write(services.renew, self._claim))
        if self._loop.time() < self._give_up:
            self._renew_later()


async def _recorded(held: _Held, response: HttpResponseBase) -> HttpResponseBase:
    if response.status_code != 200:
        held.release()
    elif isinstance(response, StreamingHttpResponse):
        chunks: Any = response.streaming_content
        response.streaming_content = _recording(held, dict(response.items()), chunks)
    elif isinstance(response, HttpResponse):
        body = response.content
        parts = [body] if len(body) <= settings.IDEMPOTENCY_BYTES else None
        await held.keep(dict(response.items()), parts)
    return response


async def _recording(
    held: _Held, headers: dict[str, str], chunks: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    """The same chunks; when the last has been taken, and before the end is told, they are kept.
    Where the length tells the end, that is before the last chunk."""
    parts: list[bytes] = []
    size, length, is_whole = 0, int(headers.get("Content-Length", -1)), False
    try:
        async with aclosing(chunks):  # type: ignore[type-var]
            async for chunk in chunks:
                size += len(chunk)
                if size <= settings.IDEMPOTENCY_BYTES:
                    parts.append(chunk)
                if size == length:
                    is_whole = True
                    await held.keep(headers, _kept(parts, size))
                yield chunk
        if not is_whole:
            is_whole = True
            await held.keep(headers, _kept(parts, size))
    finally:
        if not is_whole:
            held.release()


def _kept(parts: list[bytes], size: int) -> list[bytes] | None:
    return parts if size <= settings.IDEMPOTENCY_BYTES else None


def _again(kept: Kept) -> HttpResponse:
    if not kept.is_same:
        message = f"This {HEADER} was used for another request: use a new one for each."
        raise ApiError(422, "idempotency_key_reused", message, field=HEADER)
    if kept.is_running:
        message = f"A request with this {HEADER} is being answered. Try again when it has ended."
        raise ApiError(
            409, "idempotency_in_progress", message, field=HEADER, retry_after_ms=RETRY_AFTER_MS
        )
    if kept.body is None:
        message = (
            f"This was spoken before, as request {kept.request_id}, and the answer was too long to "
            "be kept, or its server died before it was. To have it spoken and charged again, use a "
            f"new {HEADER}."
        )
        raise ApiError(409, "idempotency_answer_not_kept", message, field=HEADER)
    response = HttpResponse(kept.body, headers=kept.headers)
    response["Idempotent-Replayed"] = "true"
    response["x-parlance-first-request"] = str(kept.request_id)
    return response


def _checked(name: str) -> str:
    if 0 < len(name) <= LONGEST and name.isascii() and name.isprintable():
        return name
    raise invalid(f"{HEADER} has 1 to {LONGEST} printable ASCII characters.", HEADER)


def _print(request: HttpRequest) -> str:
    """Of all that the answer depends on."""
    chosen = (request.headers.get(name, "") for name in _CHOOSING)
    told = (request.method or "", request.get_full_path(), *chosen)
    return sha256(repr(told).encode() + request.body).hexdigest()
