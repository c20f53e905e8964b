"""Making and revoking keys."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from ttsapp.audit.models import Action
from ttsapp.audit.services import Actor, record
from ttsapp.keys import secrets
from ttsapp.keys.models import ApiKey, Environment, UsedToken
from ttsapp.tenants.models import Tenant

LAST_USED_EVERY = timedelta(minutes=1)
# Longer than any single-use token is valid.
USED_TOKENS_KEPT = timedelta(hours=1)


@transaction.atomic
def create_key(
    actor: Actor,
    tenant: Tenant,
    name: str,
    environment: Environment = Environment.LIVE,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """The row and the key itself, which exists nowhere else from here on."""
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
    )
    record(actor, Action.KEY_CREATED, tenant, key.hint, name=name)
    return key, minted.full


@transaction.atomic
def revoke_key(actor: Actor, key: ApiKey) -> bool:
    """Ends the key everywhere within a second. False when it was revoked already."""
    if not ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now()):
        return False
    record(actor, Action.KEY_REVOKED, key.tenant, key.hint, name=key.name)
    return True


def touch(key_id: int) -> None:
    """Notes that the key was used, at most once a minute over all processes."""
    now = timezone.now()
    due = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_EVERY)
    ApiKey.objects.filter(due, pk=key_id).update(last_used_at=now)


def use_token(token_id: UUID) -> bool:
    """Once, over all processes. False when it was used before."""
    _, is_new = UsedToken.objects.get_or_create(id=token_id)
    UsedToken.objects.filter(used_at__lt=timezone.now() - USED_TOKENS_KEPT).delete()
    return is_new
