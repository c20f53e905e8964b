"""Short-lived stand-ins for a key, for browsers and phones that must not hold the key itself.

Signed, not stored: a token names its key, what it is good for and until when. It ends with the key
when that is revoked, and with the secret that it was asked for by when that is replaced."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from enum import StrEnum

from django.core import signing

PREFIX = "parl_token_"
_SALT = "parlance.keys.token"


class Scope(StrEnum):
    """What a token may be good for."""

    SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class Token:
    """`secret_mark`: of the secret that it was asked for by. `expires_at` in Unix seconds."""

    public_id: str
    secret_mark: str
    scope: Scope
    expires_at: float


def mark(secret_hash: bytes) -> str:
    """Tells a key's secrets apart, and nothing of them: whoever has a token can read it."""
    return hashlib.sha256(_SALT.encode() + secret_hash).hexdigest()[:16]


def mint(public_id: str, secret_mark: str, scope: Scope, seconds: int) -> str:
    content = [public_id, secret_mark, scope.value, time.time() + seconds]
    return PREFIX + signing.dumps(content, salt=_SALT)


def is_token(credential: str) -> bool:
    return credential.startswith(PREFIX)


def read(credential: str) -> Token | None:
    """None for what was not signed here, or by a version that signed no secret; an expired one is
    read like any other."""
    try:
        public_id, secret_mark, scope, expires_at = signing.loads(
            credential.removeprefix(PREFIX), salt=_SALT
        )
    except (signing.BadSignature, ValueError):
        return None
    return Token(public_id, secret_mark, Scope(scope), expires_at)
