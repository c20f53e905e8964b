"""From a credential to the tenant behind it, without a query for every request."""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import structlog
from django.utils import timezone

from ttsapp import background, context, database
from ttsapp.audit.services import Actor
from ttsapp.errors import ApiError
from ttsapp.keys import selectors, services, tokens
from ttsapp.keys.rules import KeyRules, KeyScope
from ttsapp.keys.secrets import KeyText, parse
from ttsapp.keys.selectors import KeyRecord
from ttsapp.keys.tokens import Scope
from ttsapp.limits.rules import Limits
from ttsapp.recent import Recent

CACHE_SIZE = 4096

# The second is what Deepgram's clients call it.
_SCHEMES = ("bearer", "token")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whom a request speaks for: a tenant's key, or a signed-in person (no key). `limits`: the
    tenant's and the key's; looked up when they are needed if None. `rules`: what the key may do;
    everything if None. `shelf`: which state of the tenant's voices holds; the newest if None.
    `share`: of the engine, beside other tenants'. `funds`: paid ahead, by currency, of a tenant
    that speaks on nothing else; looked up with the limits. `audio_hours`, `text_days`:
    that the tenant wants what it speaks kept, and its text. `secret_mark`: which of the key's
    secrets was presented, or that its token was asked for by."""

    tenant_id: int
    key_id: int | None
    label: str
    limits: tuple[Limits, Limits] | None = None
    rules: KeyRules | None = None
    shelf: int | None = None
    share: int = 1
    funds: Mapping[str, int] | None = None
    audio_hours: int = 0
    text_days: int = 0
    secret_mark: str = ""

    @property
    def actor(self) -> Actor:
        """As the audit names who acts by it."""
        return Actor(None, self.label)

    @property
    def public_id(self) -> str | None:
        """The key's, by which a token can name it."""
        return None if self.key_id is None else self.label.removeprefix("key:")


def _find(public_ids: list[str]) -> dict[str, KeyRecord]:
    return selectors.find(public_ids)


_recent = Recent(_find, CACHE_SIZE)


async def authenticate(
    authorization: str,
    scope: Scope | None = None,
    *,
    token_at: float | None = None,
    needs: KeyScope = KeyScope.SPEECH,
    key_header: str = "Authorization: Bearer KEY",
) -> Caller:
    """The caller behind an Authorization header. Raises ApiError 401 or 403.

    `scope`: what a token must be good for; by default only keys are let in. `token_at`: when it had
    to be valid, in Unix seconds; by default now. `needs`: the scope that the key must have.
    `key_header`: how the API's clients send it, for who sent none."""
    credential = _presented(authorization, key_header)
    if tokens.is_token(credential):
        record, secret_mark = await _by_token(credential, scope, token_at or time.time())
    else:
        record, secret_mark = await _by_key(credential)
    _check_usable(record)
    origin = context.origin.get()
    record.rules.check_call(needs, origin.address)
    structlog.contextvars.bind_contextvars(key=record.public_id)
    if _is_touch_due(record):
        background.spawn(database.write(services.touch, record.id, origin.address, origin.agent))
    label = f"key:{record.public_id}"
    return Caller(
        record.tenant_id,
        record.id,
        label,
        record.limits,
        record.rules,
        record.shelf,
        record.share,
        record.funds,
        record.audio_hours,
        record.text_days,
        secret_mark,
    )


async def standing(caller: Caller) -> Caller:
    """For what is still being spoken: the caller, with the state of the voices that holds now.
    Raises ApiError once the key is revoked or its account suspended; one that has expired meanwhile
    may end what it has begun."""
    record = await _recent.get(caller.public_id) if caller.public_id is not None else None
    if record is None:
        return replace(caller, shelf=None)
    if record.revoked_at is not None or record.tenant_suspended:
        _check_usable(record)
    return replace(caller, shelf=record.shelf)


def _presented(authorization: str, key_header: str) -> str:
    scheme, _, credential = authorization.strip().partition(" ")
    if scheme.lower() not in _SCHEMES or not credential:
        raise _refusal(f"You didn't provide an API key. Send it as: {key_header}")
    return credential.strip()


async def _by_key(credential: str) -> tuple[KeyRecord, str]:
    key = parse(credential)
    if key is None:
        raise _refusal("Incorrect API key provided: it is mistyped or not a key of this service.")
    record = await _recent.get(key.public_id)
    if record is not None and not _matches(record, key):
        # It may have got its new secret since it was looked up last.
        record = await _recent.get(key.public_id, afresh=True)
    if record is None or not (_matches(record, key) or _was(record, key)):
        raise _refusal("Incorrect API key provided.")
    if not _matches(record, key):
        message = "The secret of this API key was replaced, and its time is over: use the new one."
        raise _refusal(message, "replaced_api_key")
    return record, tokens.mark(key.secret_hash)


async def _by_token(credential: str, scope: Scope | None, at: float) -> tuple[KeyRecord, str]:
    token = tokens.read(credential)
    record = None if token is None else await _recent.get(token.public_id)
    if token is None or record is None:
        raise _refusal("Incorrect access token provided.")
    if token.expires_at <= at:
        raise _refusal("This access token has expired: ask for another.")
    if token.scope is not scope:
        message = f"This access token is for {token.scope} only: use an API key here."
        raise ApiError(403, "token_out_of_scope", message)
    if not _is_of_a_secret(record, token.secret_mark):
        # The key may have got the secret that it was asked for by since it was looked up last.
        record = await _recent.get(token.public_id, afresh=True)
    if record is None or not _is_of_a_secret(record, token.secret_mark):
        message = (
            "The secret that this access token was asked for by was replaced: ask for another."
        )
        raise _refusal(message, "replaced_api_key")
    return record, token.secret_mark


def _is_of_a_secret(record: KeyRecord, mark: str) -> bool:
    """Of its secret, or of the one before while that works."""
    before = record.previous_hash if _is_rotating(record) else None
    return mark in {tokens.mark(each) for each in (record.secret_hash, before) if each is not None}


def _matches(record: KeyRecord, key: KeyText) -> bool:
    """Its secret, or the one before while that works."""
    same_secret = hmac.compare_digest(record.secret_hash, key.secret_hash)
    is_known = same_secret or (_is_rotating(record) and _was(record, key))
    return is_known and record.environment == key.environment


def _is_rotating(record: KeyRecord) -> bool:
    return record.previous_until is not None and record.previous_until > timezone.now()


def _was(record: KeyRecord, key: KeyText) -> bool:
    """Whether it is the secret before this one."""
    before = record.previous_hash
    return (
        before is not None
        and hmac.compare_digest(before, key.secret_hash)
        and record.environment == key.environment
    )


SUSPENDED = (
    "This account is suspended: ask whoever runs this installation, who can say why and restore it."
)


def _check_usable(record: KeyRecord) -> None:
    if record.revoked_at is not None:
        message = "This API key was revoked: use another, or make one in the console."
        raise _refusal(message, "revoked_api_key")
    if record.expires_at is not None and record.expires_at <= timezone.now():
        message = "This API key has expired: make another in the console."
        raise _refusal(message, "expired_api_key")
    if record.tenant_suspended:
        raise ApiError(403, "tenant_suspended", SUSPENDED)


def _is_touch_due(record: KeyRecord) -> bool:
    last = record.last_used_at
    return last is None or timezone.now() - last > services.LAST_USED_EVERY


def _refusal(message: str, code: str = "invalid_api_key") -> ApiError:
    return ApiError(401, code, message)
