"""Answers that are told as an address, kept for an hour; and those that their tenants want to hear
again, for as long as each says. In a folder each, under names nobody guesses.

Any web process gives out what another has kept: they share the folders. What a voice has said goes
with the voice; what it says while it is deleted is not kept."""

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

from ttsapp import database
from ttsapp.errors import ApiError
from ttsapp.voices.own import OwnVoice, Preset
from ttsapp.voices.selectors import is_deleted

log = structlog.get_logger()

KEEP_SECONDS = 3600
# Looking at every file takes a while: between two looks the folder may outgrow its bound a little.
SWEEP_SECONDS = 5.0
_NAME = re.compile(
    r"(?P<expires_at>\d{10})-[0-9a-f]{16}-[\w-]{32}\.(?P<kind>[a-z0-9]{3,4})", re.ASCII
)
_CONTENT_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg", "pcm": "audio/pcm", "opus": "audio/ogg"}


@dataclass(frozen=True, slots=True)
class Kept:
    """`expires_at` in Unix seconds. `voice`: the id of a tenant's own, which may be deleted."""

    name: str
    expires_at: int
    voice: str = ""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Beyond `most_bytes` the oldest go first, before their time."""

    folder: str
    most_bytes: int

    @property
    def path(self) -> Path:
        path: Path = settings.DATA / self.folder
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path


ANSWERS = Shelf("answers", 1 << 30)
RECORDINGS = Shelf("recordings", 10 << 30)
SHELVES = (ANSWERS, RECORDINGS)


def expiry(seconds: int = KEEP_SECONDS) -> int:
    """When what is kept now expires, in Unix seconds."""
    return int(time.time()) + seconds


def content_type(name: str) -> str:
    match = _NAME.fullmatch(name)
    return _CONTENT_TYPES.get(match["kind"] if match else "", "application/octet-stream")


def named(voice: Preset, seconds: int = KEEP_SECONDS, kind: str = "wav") -> Kept:
    """Where what this voice has said will be."""
    ends = expiry(seconds)
    name = f"{ends}-{_mark(voice.name)}-{secrets.token_urlsafe(24)}.{kind}"
    return Kept(name, ends, voice.name if isinstance(voice, OwnVoice) else "")


async def keep(audio: bytes, voice: Preset, kind: str = "wav") -> Kept | None:
    """What this voice has said, in a file of that kind. None where the disk does not take it, or
    the voice is gone."""
    kept = named(voice, kind=kind)
    return kept if await write(ANSWERS, kept, audio) else None


async def write(shelf: Shelf, kept: Kept, audio: bytes) -> bool:
    """Whether the disk took it, and its voice is still there."""
    try:
        await asyncio.to_thread(_write, shelf, kept.name, audio)
    except OSError as error:
        log.warning("audio not kept", error=repr(error))
        return False
    # Afterwards: who deletes the voice from now on finds the file.
    if kept.voice and await _is_gone(kept.voice):
        await asyncio.to_thread((shelf.path / kept.name).unlink, missing_ok=True)
        return False
    return True


async def _is_gone(voice: str) -> bool:
    """So too where nobody can tell."""
    try:
        return await database.read(is_deleted, voice)
    except ApiError:
        return True


async def find(name: str) -> bytes | None:
    """None for what is not, or no longer, kept."""
    return await asyncio.to_thread(read, ANSWERS, name)


def read(shelf: Shelf, name: str) -> bytes | None:
    """None for what is not, or no longer, kept."""
    if expires_at(name) <= time.time():
        return None
    try:
        return (shelf.path / name).read_bytes()
    except FileNotFoundError:
        return None


def is_there(shelf: Shelf, name: str) -> bool:
    return expires_at(name) > time.time() and (shelf.path / name).is_file()


def expires_at(name: str) -> int:
    """In Unix seconds; 0 for what was never kept."""
    match = _NAME.fullmatch(name)
    return int(match["expires_at"]) if match else 0


def forget_voice(voice: str) -> int:
    """All that it has said and is still kept. Returns how many answers that were."""
    found = [path for shelf in SHELVES for path in shelf.path.glob(f"*-{_mark(voice)}-*.*")]
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)


def _mark(voice: str) -> str:
    """Of its name, which an address need not tell."""
    return hashlib.sha256(voice.encode()).hexdigest()[:16]


def _write(shelf: Shelf, name: str, audio: bytes) -> None:
    _sweeps.sweep(shelf, len(audio))
    (shelf.path / name).write_bytes(audio)


def remove_expired(shelf: Shelf, needed: int = 0) -> int:
    """And the oldest where there is no room for so many bytes. Returns how many went."""
    room, gone = shelf.most_bytes - needed, 0
    # Names begin with the time at which they expire: the youngest come first.
    for path in sorted(shelf.path.iterdir(), reverse=True):
        if ends := expires_at(path.name):
            with suppress(FileNotFoundError):
                room -= path.stat().st_size
                if room < 0 or ends <= time.time():
                    path.unlink()
                    gone += 1
    return gone


class _Sweeps:
    """This process's, so long apart. Threads that come at once do no harm."""

    def __init__(self) -> None:
        self._next_at: dict[Shelf, float] = {}

    def sweep(self, shelf: Shelf, needed: int) -> None:
        if time.monotonic() >= self._next_at.get(shelf, 0.0):
            self._next_at[shelf] = time.monotonic() + SWEEP_SECONDS
            remove_expired(shelf, needed)


_sweeps = _Sweeps()
