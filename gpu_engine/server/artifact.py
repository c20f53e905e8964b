"""A voice as one piece of bytes: what it is, for which model, and a signature over both."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from gpu_engine.errors import EngineError
from gpu_engine.server.settings import BadSetting

log = structlog.get_logger()

MAGIC, SIGNATURE = b"PVA1", 32
KEY, KEY_FILE, DATA = "PARLANCE_VOICE_KEY", "PARLANCE_VOICE_KEY_FILE", "PARLANCE_DATA"
SHORTEST_KEY = 32


class Voice(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """`embedding` float32 and `codes` uint16 [frames, groups], both little-endian; `text` is what
    the codes say. Without codes it is cloned by its embedding alone."""

    fingerprint: str
    embedding: bytes
    codes: bytes = b""
    text: str = ""


class Seal:
    """Signs voices and refuses what it did not sign. Engines of one installation share the key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def close(self, voice: Voice) -> tuple[bytes, str]:
        """The artifact, and its id: equal for equal voices, whoever signed them."""
        body = _encoder.encode(voice)
        return MAGIC + self._sign(body) + body, _identity(body).hex()

    def open(self, artifact: bytes) -> Voice:
        """Raises EngineError `voice_damaged`."""
        head, body = len(MAGIC) + SIGNATURE, artifact[len(MAGIC) + SIGNATURE :]
        signed = artifact[len(MAGIC) : head]
        if not artifact.startswith(MAGIC) or not hmac.compare_digest(signed, self._sign(body)):
            message = "the voice was changed, or made by another installation: make it again"
            raise EngineError("voice_damaged", message, field="voice")
        return _decoder.decode(body)

    def _sign(self, body: bytes) -> bytes:
        return hmac.digest(self._key, MAGIC + body, "sha256")


def identity(voice: Voice) -> bytes:
    """What `Seal.close` calls it, as bytes."""
    return _identity(_encoder.encode(voice))


def _identity(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Voice] = msgspec.msgpack.Decoder(Voice)


def voice_key() -> bytes:
    """The installation's key: from the environment, or kept in the data folder, or this process's
    own. Raises BadSetting naming the variable."""
    value, file = os.environ.get(KEY), os.environ.get(KEY_FILE)
    if value and file:
        raise BadSetting(f"set {KEY} or {KEY_FILE}, not both")
    if not value and file:
        value = _read(Path(file))
    if not value and (folder := os.environ.get(DATA)):
        value = _kept(Path(folder) / "voice.key")
    if not value:
        log.info("voices made now are of use to this process alone", remedy=f"set {KEY}")
        return secrets.token_bytes(SHORTEST_KEY)
    if len(value) < SHORTEST_KEY:
        raise BadSetting(f"{KEY} must have at least {SHORTEST_KEY} characters: a long random text")
    return value.encode()


def _kept(file: Path) -> str:
    """Appears whole or not at all: who comes second keeps the first one's."""
    if not file.exists():
        partial = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
                handle.write(secrets.token_urlsafe(SHORTEST_KEY))
            with suppress(FileExistsError):
                os.link(partial, file)
        except OSError as error:
            raise BadSetting(f"{file} cannot be made ({error.strerror}): set {KEY}") from None
        finally:
            partial.unlink(missing_ok=True)
    return _read(file)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file} cannot be read ({error}): it holds {KEY}") from None
