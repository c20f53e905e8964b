"""Writing audit rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from ttsapp import context
from ttsapp.audit.models import Action, AuditEntry

if TYPE_CHECKING:
    from ttsapp.tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a person, or a command of the installation itself."""

    user_id: int | None
    label: str

    @classmethod
    def of(cls, user: AbstractBaseUser | AnonymousUser) -> Actor:
        return cls(user.pk, f"user:{user.get_username()}")


SYSTEM = Actor(None, "system")


def record(actor: Actor, action: Action, tenant: Tenant, target: str, **detail: Any) -> None:
    """Adds the row; call it inside the transaction of the change."""
    AuditEntry.objects.create(
        tenant=tenant,
        actor_user_id=actor.user_id,
        actor=actor.label,
        action=action,
        target=target,
        detail=detail,
        request_id=context.request_id.get(),
    )
