"""The store: bytes under the hash of their content, signed with the installation's key.

`STORAGES["voices"]` says where it is: a folder by default, anything that Django has a backend for
otherwise. Whoever can write to it but lacks the key can neither plant a voice nor change one."""

from __future__ import annotations

import hashlib
import hmac
from enum import StrEnum
from functools import cache

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

_SIGNATURE_BYTES = 32


class Blob(StrEnum):
    """What is kept; part of what is signed, so that none passes for another kind."""

    ARTIFACT = "artifact"
    CLIP = "clip"
    EVIDENCE = "evidence"
    PREVIEW = "preview"


class DamagedError(Exception):
    """A blob that is not what was put there: missing, cut short, or not signed by us."""


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def put_named(kind: Blob, name: str, content: bytes) -> None:
    """Under a name that stands for the content (what it was made from). A blob that is there as it
    would be written is left alone; one that a crash cut short, or that an engine made under a key
    that it no longer has, is replaced."""
    path = _path(kind, name)
    if _store().exists(path):
        try:
            if get(kind, name) == content:
                return
        except DamagedError:
            pass
        _store().delete(path)
    signed = _signature(kind, name, content) + content
    _store().save(path, ContentFile(signed))


def get(kind: Blob, name: str) -> bytes:
    """Raises DamagedError."""
    try:
        with _store().open(_path(kind, name)) as file:
            signed: bytes = file.read()
    except FileNotFoundError as error:
        raise DamagedError(f"{kind} {name} is not in the store") from error
    signature, content = signed[:_SIGNATURE_BYTES], signed[_SIGNATURE_BYTES:]
    if not hmac.compare_digest(signature, _signature(kind, name, content)):
        raise DamagedError(f"{kind} {name} does not carry our signature")
    return content


def has(kind: Blob, name: str) -> bool:
    return _store().exists(_path(kind, name))


def remove(kind: Blob, name: str) -> bool:
    """Whether it was there."""
    if not has(kind, name):
        return False
    _store().delete(_path(kind, name))
    return True


def _path(kind: Blob, name: str) -> str:
    """Names are digests: nothing that a client sends becomes part of a path."""
    assert name.isalnum(), "a name in the store is a digest"
    return f"{kind}/{name[:2]}/{name}"


def _signature(kind: Blob, name: str, content: bytes) -> bytes:
    said = hashlib.sha256(content).digest()
    return hmac.digest(_key(), f"{kind}/{name}/".encode() + said, "sha256")


@cache
def _key() -> bytes:
    return hmac.digest(settings.SECRET_KEY.encode(), b"parlance voice store", "sha256")


def _store() -> Storage:
    return storages["voices"]
