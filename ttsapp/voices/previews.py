"""A few sentences by each voice, made once by a worker and kept: heard before a voice is chosen."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress

from django.conf import settings

from gpu_engine.proto import engine_pb2
from ttsapp.engine.client import client
from ttsapp.engine.errors import stalled
from ttsapp.errors import ApiError
from ttsapp.speech.encoders import audio_format, encode_whole
from ttsapp.voices import artifacts, storage
from ttsapp.voices.catalogue import Catalogue, SpeechModel
from ttsapp.voices.own import OwnVoice, Preset
from ttsapp.voices.sentences import LANGUAGES, PREVIEWS, sentences
from ttsapp.voices.storage import Blob, DamagedError

FORMAT = "mp3"
# So long nobody's wish to hear it has it made again.
FAILED_SECONDS = 60


def model_of(served: Catalogue, voice: Preset) -> SpeechModel | None:
    """What speaks it now; None too where its consent has ended."""
    if isinstance(voice, OwnVoice):
        return voice.served_by if voice.is_usable else None
    return next((model for model in served.models if voice in model.presets), None)


def name_of(model: SpeechModel, voice: Preset, place: int) -> str:
    """What it was made from: other weights, another version of the voice or another text make
    another preview."""
    text = sentences(voice.native_language)[place]
    if isinstance(voice, OwnVoice):
        # An artifact is of its weights alone.
        return _name(voice.artifact, text)
    return _name(model.id, model.fingerprint, voice.name, text)


def names_of(artifact: str) -> Iterator[str]:
    """All that may have been kept of it, whatever language its voice was said to have."""
    for language in LANGUAGES:
        for text in sentences(language):
            yield _name(artifact, text)
            yield _failed(_name(artifact, text))


def find(model: SpeechModel, voice: Preset, place: int) -> bytes | None:
    """None while it has not been made."""
    with suppress(DamagedError):
        return storage.get(Blob.PREVIEW, name_of(model, voice, place))
    return None


def failure(model: SpeechModel, voice: Preset) -> str:
    """Why they could not be made a moment ago; empty: nothing is known of that."""
    with suppress(DamagedError):
        noted = storage.get(Blob.PREVIEW, _failed(name_of(model, voice, 0))).decode()
        at, _, why = noted.partition(" ")
        return why if time.time() - float(at) < FAILED_SECONDS else ""
    return ""


async def make(served: Catalogue, voice: Preset) -> int:
    """Those that are missing. Returns how many were made. Raises ApiError."""
    model = model_of(served, voice)
    if model is None:
        return 0
    if isinstance(voice, OwnVoice):
        await artifacts.warm(voice.artifact)
    try:
        return await _make_missing(model, voice)
    except ApiError as error:
        await asyncio.to_thread(_note_failure, model, voice, error.message)
        raise
    finally:
        if isinstance(voice, OwnVoice):
            # Workers hear of no deletion.
            artifacts.cache.forget(voice.artifact)


async def _make_missing(model: SpeechModel, voice: Preset) -> int:
    made = 0
    for place in range(PREVIEWS):
        name = name_of(model, voice, place)
        if await asyncio.to_thread(storage.has, Blob.PREVIEW, name):
            continue
        language = voice.native_language
        text = sentences(language)[place]
        pcm = await spoken(model, voice.to_engine(), text, language, "preview")
        content = encode_whole(audio_format(FORMAT), pcm)
        await asyncio.to_thread(storage.put_named, Blob.PREVIEW, name, content)
        if isinstance(voice, OwnVoice) and not storage.has(Blob.ARTIFACT, voice.artifact):
            # The voice was deleted meanwhile, and what was there of it has been removed.
            storage.remove(Blob.PREVIEW, name)
            break
        made += 1
    return made


def _note_failure(model: SpeechModel, voice: Preset, why: str) -> None:
    """Workers have nothing else in common with whoever waits for them."""
    if not isinstance(voice, OwnVoice) or storage.has(Blob.ARTIFACT, voice.artifact):
        noted = f"{time.time()} {why}".encode()
        storage.put_named(Blob.PREVIEW, _failed(name_of(model, voice, 0)), noted)


def _failed(name: str) -> str:
    return _name("failed", name)


def _name(*said: str) -> str:
    return storage.digest_of("\0".join(said).encode())


async def spoken(
    model: SpeechModel, voice: engine_pb2.Voice, text: str, language: str, purpose: str
) -> bytes:
    """Background work, which nobody is charged for. Raises ApiError, 503 `no_audio` where it makes
    no sound or comes to no end."""
    stream = client().synthesize(model.id)
    await stream.start(
        engine_pb2.Start(
            request_id=purpose,
            model=model.id,
            voice=voice,
            text=text,
            language=language,
            complete=True,
            # The same each time it is made.
            seed=zlib.crc32(text.encode()),
            tenant="previews",
            priority=engine_pb2.PRIORITY_BACKGROUND,
        )
    )
    parts: list[bytes] = []
    try:
        async with asyncio.timeout(settings.MAX_STREAM_SECONDS):
            while not (event := await stream.next("text")).HasField("finished"):
                parts.append(event.audio.pcm)
    except TimeoutError:
        raise stalled() from None
    finally:
        stream.abort()
    if not any(parts) or event.finished.reason == engine_pb2.FINISH_REASON_LENGTH:
        raise ApiError(503, "no_audio", "The voice made no sound, or came to no end.")
    return b"".join(parts)
