"""Answers that are told as an address: kept for an hour in a folder, under names nobody guesses.

Any web process gives out what another has kept: they share the folder. What a voice has said goes
with the voice."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog
from django.conf import settings

log = structlog.get_logger()

KEEP_SECONDS = 3600
# Beyond this the oldest go first, before their time.
MOST_BYTES = 1 << 30
# Looking at every file takes a while: between two looks the folder may outgrow its bound a little.
SWEEP_SECONDS = 5.0
_NAME = re.compile(r"(?P<expires_at>\d{10})-[0-9a-f]{16}-[\w-]{32}\.wav", re.ASCII)


@dataclass(frozen=True, slots=True)
class Kept:
    """`expires_at` in Unix seconds."""

    name: str
    expires_at: int


def expiry() -> int:
    """When what is kept now expires, in Unix seconds."""
    return int(time.time()) + KEEP_SECONDS


async def keep(audio: bytes, voice: str) -> Kept | None:
    """What this voice has said. None where the disk does not take it."""
    expires_at = expiry()
    kept = Kept(f"{expires_at}-{_mark(voice)}-{secrets.token_urlsafe(24)}.wav", expires_at)
    try:
        await asyncio.to_thread(_write, kept.name, audio)
    except OSError as error:
        log.warning("audio not kept", error=repr(error))
        return None
    return kept


async def find(name: str) -> bytes | None:
    """None for what is not, or no longer, kept."""
    match = _NAME.fullmatch(name)
    if match is None or int(match["expires_at"]) <= time.time():
        return None
    return await asyncio.to_thread(_read, name)


def forget_voice(voice: str) -> int:
    """All that it has said and is still kept. Returns how many answers that were."""
    found = list(_folder().glob(f"*-{_mark(voice)}-*.wav"))
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)


def _mark(voice: str) -> str:
    """Of its name, which an address need not tell."""
    return hashlib.sha256(voice.encode()).hexdigest()[:16]


def _folder() -> Path:
    folder: Path = settings.DATA / "answers"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _write(name: str, audio: bytes) -> None:
    folder = _folder()
    _sweeps.sweep(folder, len(audio))
    (folder / name).write_bytes(audio)


def _read(name: str) -> bytes | None:
    try:
        return (_folder() / name).read_bytes()
    except FileNotFoundError:
        return None


class _Sweeps:
    """This process's, so long apart. Threads that come at once do no harm."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def sweep(self, folder: Path, needed: int) -> None:
        if time.monotonic() < self._next_at:
            return
        self._next_at = time.monotonic() + SWEEP_SECONDS
        room = MOST_BYTES - needed
        # Names begin with the time at which they expire: the youngest come first.
        for path in sorted(folder.iterdir(), reverse=True):
            if match := _NAME.fullmatch(path.name):
                with suppress(FileNotFoundError):
                    room -= path.stat().st_size
                    if room < 0 or int(match["expires_at"]) <= time.time():
                        path.unlink()


_sweeps = _Sweeps()
