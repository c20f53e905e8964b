"""What the engine makes of a recording, on its way to the row that names it and, with that, to the
store.

Whoever sent it may leave at any moment, and a write may fail: nothing of a speaker stays behind in
the store that no row names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from django.db import Error as DatabaseError

from ttsapp import background, database
from ttsapp.engine import voices as engine
from ttsapp.errors import ApiError
from ttsapp.speech.encoders import audio_format, encode_whole
from ttsapp.speech.encoders.samples import to_int16
from ttsapp.voices import storage
from ttsapp.voices.catalogue import SpeechModel
from ttsapp.voices.clips.checks import Reference
from ttsapp.voices.services import shelves
from ttsapp.voices.services.registry import Encoded
from ttsapp.voices.storage import Blob

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Names:
    """What an API calls these fields, so that refusals name them."""

    recording: str = "audio_sample"
    text: str = "text"
    consent: str = "consent"
    language: str = "language"


USUAL, OF_EMBEDDINGS = Names(), Names(recording="embedding")


async def encode(
    model: SpeechModel, reference: Reference, text: str, names: Names = USUAL
) -> Encoded:
    """By the engine. Raises ApiError."""
    pcm = np.ascontiguousarray(reference.samples, "<f4").tobytes()
    with _naming(names):
        found = await engine.encode(model.id, pcm, text)
    clip = await asyncio.to_thread(_clip, reference)
    digest = storage.digest_of(clip)
    return Encoded(
        artifact=found.id,
        model=found.model,
        fingerprint=found.fingerprint,
        clip=digest,
        text=text,
        start_ms=reference.window.start_ms,
        end_ms=reference.window.end_ms,
        checks=reference.report,
        contents={(Blob.ARTIFACT, found.id): found.artifact, (Blob.CLIP, digest): clip},
    )


async def embed(model: SpeechModel, values: Sequence[float], names: Names) -> Encoded:
    """The same of a ready embedding, which has no clip. Raises ApiError."""
    with _naming(names):
        found = await engine.embed(model.id, values)
    contents = {(Blob.ARTIFACT, found.id): found.artifact}
    return Encoded(found.id, found.model, found.fingerprint, contents=contents)


async def kept(write: Callable[[], Row], encoded: Encoded) -> Row:
    """Writes the row that names it, to its end: there is a row then, or nothing of it. Raises what
    the write raises."""
    found = await asyncio.shield(background.spawn(_written(write, encoded)))
    if isinstance(found, ApiError | DatabaseError):
        raise found
    return found


async def _written(write: Callable[[], Row], encoded: Encoded) -> Row | ApiError | DatabaseError:
    try:
        return await database.write(_write, write, encoded)
    except (ApiError, DatabaseError) as error:
        return error


def _write(write: Callable[[], Row], encoded: Encoded) -> Row:
    with shelves.released_unless_written(encoded.contents):
        return write()


@contextmanager
def _naming(names: Names) -> Iterator[None]:
    """What the engine refuses, under the caller's own names."""
    try:
        yield
    except ApiError as error:
        known = {"pcm": names.recording, "embedding": names.recording, "text": names.text}
        error.field = known.get(error.field or "", error.field)
        raise


def _clip(reference: Reference) -> bytes:
    pcm = to_int16(reference.samples).tobytes()
    return encode_whole(audio_format("flac"), pcm)
