"""A speech client that does little but note when each piece of audio arrives."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

SAMPLE_BYTES = 2


@dataclass(frozen=True, slots=True)
class Target:
    """Where to ask, and as whom."""

    url: str
    key: str
    voice: str = "alloy"


@dataclass(slots=True)
class Take:
    """One request: seconds since it was sent at each arrival, and the 16-bit samples so far."""

    text: str
    arrivals: list[tuple[float, int]] = field(default_factory=list)
    pcm: bytearray = field(default_factory=bytearray)
    total: float = 0.0
    failure: str = ""

    @property
    def samples(self) -> int:
        return len(self.pcm) // SAMPLE_BYTES


async def speak(target: Target, text: str, seed: int) -> Take:
    """Streams one text as PCM over a connection of its own. A failure is part of the result."""
    take = Take(text)
    sent = time.perf_counter()
    try:
        await _exchange(target, take, seed, sent)
    except (OSError, ValueError, asyncio.IncompleteReadError) as error:
        take.failure = repr(error)
    take.total = time.perf_counter() - sent
    return take


async def _exchange(target: Target, take: Take, seed: int, sent: float) -> None:
    parts = urlsplit(target.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(_request(target, take.text, seed))
        status, is_chunked = await _head(reader)
        if status != 200 or not is_chunked:
            take.failure = f"HTTP {status}"
            return
        while piece := await _chunk(reader):
            take.pcm += piece
            take.arrivals.append((time.perf_counter() - sent, take.samples))
    finally:
        writer.close()


def _request(target: Target, text: str, seed: int) -> bytes:
    body = {"model": "tts-1", "voice": target.voice, "input": text, "seed": seed}
    content = json.dumps(body | {"response_format": "pcm"}).encode()
    head = (
        "POST /v1/audio/speech HTTP/1.1",
        f"Host: {urlsplit(target.url).netloc}",
        f"Authorization: Bearer {target.key}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        "Connection: close",
    )
    return "\r\n".join([*head, "", ""]).encode() + content


async def _head(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """Status, and whether the body comes in chunks."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    return int(head.split(" ", 2)[1]), "\r\ntransfer-encoding: chunked\r\n" in head


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    """The next chunk's content; empty at the end."""
    size = int(await reader.readuntil(b"\r\n"), 16)
    return (await reader.readexactly(size + 2))[:-2]
