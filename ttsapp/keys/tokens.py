"""Short-lived stand-ins for a key, for browsers and phones that must not hold the key itself.

Signed, not stored: a token names its key, what it is good for and until when, and ends with the
key when that is revoked."""

from __future__ import annotations

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
    """`expires_at` in Unix seconds."""

    public_id: str
    scope: Scope
    expires_at: float


def mint(public_id: str, scope: Scope, seconds: int) -> str:
    content = [public_id, scope.value, time.time() + seconds]
    return PREFIX + signing.dumps(content, salt=_SALT)


def is_token(credential: str) -> bool:
    return credential.startswith(PREFIX)


def read(credential: str) -> Token | None:
    """None for what was not signed here; an expired one is read like any other."""
    try:
        content = signing.loads(credential.removeprefix(PREFIX), salt=_SALT)
    except signing.BadSignature:
        return None
    public_id, scope, expires_at = content
    return Token(public_id, Scope(scope), expires_at)
