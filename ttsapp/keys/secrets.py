"""The text of an API key: parl_<environment>_<public id>_<secret><check>.

The secret is 256 random bits in base 62, so a plain fast hash guards it; the last character is a
check digit over all that precedes it, which tells a typo from a wrong key without a look-up."""

from __future__ import annotations

import hashlib
import re
import secrets
import string
from dataclasses import dataclass

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_VALUES = {character: value for value, character in enumerate(_ALPHABET)}
_PUBLIC = string.digits + string.ascii_lowercase
_SECRET_LENGTH = 43  # 62 ** 43 > 2 ** 256

# What a secret scanner should look for.
PATTERN = re.compile(r"parl_(live|test)_([0-9a-z]{10})_([0-9A-Za-z]{43})([0-9A-Za-z])")


@dataclass(frozen=True, slots=True)
class KeyText:
    """A well-formed key; `full` is the only place that holds all of it."""

    environment: str
    public_id: str
    secret: str
    full: str

    @property
    def secret_hash(self) -> bytes:
        return hashlib.sha256(self.secret.encode()).digest()

    @property
    def last_four(self) -> str:
        return self.full[-4:]


def mint(environment: str, public_id: str = "") -> KeyText:
    """A new key, or a new secret for the one of that public id."""
    public_id = public_id or "".join(secrets.choice(_PUBLIC) for _ in range(10))
    secret = _base62(secrets.randbits(256))
    return KeyText(environment, public_id, secret, _full(environment, public_id, secret))


def parse(text: str) -> KeyText | None:
    """None for anything that cannot be a key of ours, a mistyped one included."""
    match = PATTERN.fullmatch(text)
    if match is None:
        return None
    environment, public_id, secret, _ = match.groups()
    full = _full(environment, public_id, secret)
    return KeyText(environment, public_id, secret, full) if full == text else None


def _full(environment: str, public_id: str, secret: str) -> str:
    body = f"parl_{environment}_{public_id}_{secret}"
    return body + _check(body.replace("_", ""))


def _check(body: str) -> str:
    """Luhn's digit in base 62: finds every single wrong character, and nearly every swap."""
    total = 0
    for place, character in enumerate(reversed(body)):
        value = _VALUES[character] * (2 if place % 2 == 0 else 1)
        total += value // 62 + value % 62
    return _ALPHABET[-total % 62]


def _base62(number: int) -> str:
    digits = []
    for _ in range(_SECRET_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)
