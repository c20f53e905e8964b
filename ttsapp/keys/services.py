"""Making and revoking keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import ApiError
from ttsapp.keys import secrets, selectors
from ttsapp.keys.models import ApiKey, Environment, UsedToken
from ttsapp.limits.fields import NAMES
from ttsapp.tenants.models import Tenant

LAST_USED_EVERY = timedelta(minutes=1)
RULES = ("scopes", "allowed_voices", "allowed_models", "allowed_networks", *NAMES)
# Longer than any single-use token is valid.
USED_TOKENS_KEPT = timedelta(hours=1)


@transaction.atomic
def create_key(
    actor: Actor,
    tenant: Tenant,
    name: str,
    environment: Environment = Environment.LIVE,
    expires_at: datetime | None = None,
    **rules: Any,
) -> tuple[ApiKey, str]:
    """The row and the key itself, which exists nowhere else from here on. `rules`: any of the
    fields that `change_key` changes. Raises ApiError 403 while the account is suspended, as
    whatever gives or changes a key does."""
    _check_active(tenant)
    minted = secrets.mint(environment)
    key = ApiKey.objects.create(
        tenant=tenant,
        name=name,
        environment=environment,
        public_id=minted.public_id,
        secret_hash=minted.secret_hash,
        last_four=minted.last_four,
        created_by_id=actor.user_id,
        expires_at=expires_at,
        **_known(rules),
    )
    record(actor, Action.KEY_CREATED, tenant, key.hint, name=name)
    return key, minted.full


@transaction.atomic
def change_key(actor: Actor, key: ApiKey, **rules: Any) -> bool:
    """Changes what the key may do, and how much; in force within a second. False when that is as
    it was."""
    _check_active(key.tenant)
    locked = ApiKey.objects.select_for_update().get(pk=key.pk)
    before = {name: getattr(locked, name) for name in _known(rules)}
    changed = {
        name: [_plain(before[name]), _plain(value)]
        for name, value in rules.items()
        if before[name] != value
    }
    if not changed:
        return False
    ApiKey.objects.filter(pk=key.pk).update(**rules)
    record(actor, Action.KEY_CHANGED, key.tenant, key.hint, name=key.name, changes=changed)
    return True


@transaction.atomic
def rotate_key(actor: Actor, key: ApiKey, overlap: timedelta) -> str | None:
    """The key's new secret, in the whole key that exists nowhere else; the one before works for the
    overlap, and an older one no more. None when the key is no longer active."""
    _check_active(key.tenant)
    locked = ApiKey.objects.select_for_update().get(pk=key.pk)
    if locked.state != "active":
        return None
    minted = secrets.mint(locked.environment, locked.public_id)
    locked.previous_hash, locked.previous_until = locked.secret_hash, timezone.now() + overlap
    locked.secret_hash, locked.last_four = minted.secret_hash, minted.last_four
    locked.save(update_fields=["previous_hash", "previous_until", "secret_hash", "last_four"])
    until = locked.previous_until.isoformat(timespec="seconds")
    record(actor, Action.KEY_ROTATED, key.tenant, locked.hint, previous_until=until)
    return minted.full


@transaction.atomic
def revoke_key(actor: Actor, key: ApiKey) -> bool:
    """Ends the key everywhere within a second. False when it was revoked already."""
    if not ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now()):
        return False
    record(actor, Action.KEY_REVOKED, key.tenant, key.hint, name=key.name)
    return True


@transaction.atomic
def expire_unused(actor: Actor, tenant: Tenant, idle: timedelta) -> list[ApiKey]:
    """Ends every active key that nobody has used for so long, everywhere within a second: what it
    speaks just now goes on to its end. Returns which those were."""
    now = timezone.now()
    found = list(selectors.unused(tenant, now - idle).select_for_update().order_by("pk"))
    ApiKey.objects.filter(pk__in=[key.pk for key in found]).update(expires_at=now)
    for key in found:
        used = key.last_used_at.isoformat(timespec="seconds") if key.last_used_at else "never"
        facts: dict[str, Any] = {"name": key.name, "days": idle.days, "last_used": used}
        record(actor, Action.KEY_EXPIRED, tenant, key.hint, **facts)
    return found


def touch(key_id: int, address: str = "", agent: str = "") -> None:
    """Notes that the key was used, from where and by what, at most once a minute over all
    processes."""
    now = timezone.now()
    due = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_EVERY)
    ApiKey.objects.filter(due, pk=key_id).update(
        last_used_at=now, last_used_address=address[:45], last_used_agent=agent[:200]
    )


def use_token(token_id: UUID) -> bool:
    """Once, over all processes. False when it was used before."""
    _, is_new = UsedToken.objects.get_or_create(id=token_id)
    UsedToken.objects.filter(used_at__lt=timezone.now() - USED_TOKENS_KEPT).delete()
    return is_new


def _check_active(tenant: Tenant) -> None:
    """By the row as it is now."""
    if Tenant.objects.filter(pk=tenant.pk, suspended_at__isnull=False).exists():
        message = "This account is suspended: its keys can be revoked, not made or changed."
        raise ApiError(403, "tenant_suspended", message)


def _known(rules: Mapping[str, Any]) -> Mapping[str, Any]:
    unknown = set(rules) - set(RULES) - {"expires_at"}
    if unknown:
        raise TypeError(f"not a rule of a key: {', '.join(sorted(unknown))}")
    return rules


def _plain(value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value
