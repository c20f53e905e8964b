"""Writing audit rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection
from django.utils import timezone

from ttsapp import context
from ttsapp.audit.actions import Action
from ttsapp.audit.chain import START, hash_of
from ttsapp.audit.models import PLATFORM, AuditDay, AuditEntry

if TYPE_CHECKING:
    from ttsapp.tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a person, a key, or a command of the installation itself."""

    user_id: int | None
    label: str

    @classmethod
    def of(cls, user: AbstractBaseUser | AnonymousUser) -> Actor:
        return cls(user.pk, f"user:{user.get_username()}")


SYSTEM = Actor(None, "system")


def record(
    actor: Actor,
    action: Action,
    tenant: Tenant | None,
    target: str,
    *,
    changes: Mapping[str, Sequence[Any]] | None = None,
    reason: str = "",
    **detail: Any,
) -> None:
    """Adds the row; call it inside the transaction of the change, and never with a secret.

    `changes`: what each field was and is; `detail`: other facts. No tenant: the installation."""
    entry = AuditEntry(
        at=timezone.now(),
        tenant=tenant,
        actor_user_id=actor.user_id,
        actor=actor.label[:200],
        action=action.value,
        target=target[:200],
        detail=detail,
        changes={name: list(pair) for name, pair in (changes or {}).items()},
        reason=reason,
        address=context.origin.get().address[:45],
        request_id=context.request_id.get(),
    )
    append(entry, scope_of(entry.tenant_id))


def append(entry: AuditEntry, scope: str) -> None:
    """Puts the row at the end of its chain, whose lock it holds until the transaction ends."""
    assert connection.in_atomic_block, "what is audited and its row are one transaction"
    chain = _lock_chain(scope, entry.at.date())
    entry.chain, entry.sequence = chain, chain.length + 1
    entry.hash = hash_of(chain.head, entry.as_row())
    entry.save(force_insert=True)
    chain.length, chain.head = entry.sequence, entry.hash
    chain.save(update_fields=["length", "head"])


def scope_of(tenant_id: int | None) -> str:
    return PLATFORM if tenant_id is None else str(tenant_id)


def _lock_chain(scope: str, day: date) -> AuditDay:
    """A new day's chain goes on from the last one's end."""
    earlier = AuditDay.objects.filter(scope=scope, day__lt=day).order_by("-day").first()
    head = earlier.head if earlier else START
    AuditDay.objects.get_or_create(scope=scope, day=day, defaults={"head": head})
    return AuditDay.objects.select_for_update().get(scope=scope, day=day)
