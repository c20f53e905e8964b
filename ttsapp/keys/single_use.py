"""Tokens that open one socket, for pages that must not hold a key.

Signed, so that none needs a row before it is used; used ones are remembered by all processes for
as long as they would be valid. What one is exchanged for is an access token, which ends with the
key, and the secret of it, that it came from."""

from __future__ import annotations

import time
from uuid import UUID

from django.core import signing
from django.db import DatabaseError

from ttsapp import database, ids
from ttsapp.errors import ApiError
from ttsapp.keys import services, tokens
from ttsapp.keys.tokens import Scope

PREFIX = "parl_once_"
SECONDS = 15 * 60
_SALT = "parlance.keys.single_use"
# What it is exchanged for only has to outlast the handshake.
_ACCESS_SECONDS = 60


def mint(public_id: str, secret_mark: str) -> str:
    content = [public_id, secret_mark, str(ids.uuid7()), time.time() + SECONDS]
    return PREFIX + signing.dumps(content, salt=_SALT)


def is_token(authorization: str) -> bool:
    return authorization.partition(" ")[2].startswith(PREFIX)


async def exchange(authorization: str) -> str:
    """An Authorization header that is good for speech. Raises ApiError 401, the second time too."""
    text = authorization.partition(" ")[2].removeprefix(PREFIX)
    try:
        public_id, secret_mark, token_id, expires_at = signing.loads(text, salt=_SALT)
    except (signing.BadSignature, ValueError):
        raise _refusal("Incorrect single-use token provided.") from None
    if expires_at <= time.time():
        raise _refusal("This single-use token has expired: ask for another.")
    try:
        is_new = await database.write(services.use_token, UUID(token_id))
    except DatabaseError:
        raise database.unavailable() from None
    if not is_new:
        raise _refusal("This single-use token was used before: ask for another.")
    return f"Bearer {tokens.mint(public_id, secret_mark, Scope.SPEECH, _ACCESS_SECONDS)}"


def _refusal(message: str) -> ApiError:
    return ApiError(401, "invalid_api_key", message)
