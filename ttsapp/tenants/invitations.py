"""Invitations: made, sent, accepted once, withdrawn."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Invitation, Membership, Role, Tenant
from ttsapp.tenants.services import add_member

VALID_FOR = timedelta(days=7)
SALT = "tenants.invitation"


@transaction.atomic
def invite(actor: Actor, tenant: Tenant, label: str, role: Role) -> Invitation:
    """`label`: for whom it is, as people write it."""
    made = Invitation.objects.create(
        tenant=tenant,
        label=label,
        role=role,
        invited_by_id=actor.user_id,
        expires_at=timezone.now() + VALID_FOR,
    )
    record(actor, Action.MEMBER_INVITED, tenant, label, role=role.value)
    return made


@transaction.atomic
def accept(user: AbstractBaseUser, invitation: Invitation) -> Membership:
    """Raises ApiError 409 when it is no longer open, or when they are a member already."""
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if not pending(locked.tenant).filter(pk=locked.pk).exists():
        raise ApiError(409, "invitation_closed", "This invitation is no longer open.")
    if Membership.objects.filter(tenant=locked.tenant, user_id=user.pk).exists():
        raise ApiError(409, "already_member", "You are a member already.")
    Invitation.objects.filter(pk=locked.pk).update(accepted_at=timezone.now())
    return add_member(Actor.of(user), locked.tenant, user, Role(locked.role))


@transaction.atomic
def withdraw(actor: Actor, invitation: Invitation) -> bool:
    """False when it was no longer open."""
    found = pending(invitation.tenant).filter(pk=invitation.pk)
    if not found.update(withdrawn_at=timezone.now()):
        return False
    record(actor, Action.INVITATION_WITHDRAWN, invitation.tenant, invitation.label)
    return True


def pending(tenant: Tenant) -> QuerySet[Invitation]:
    """Those that still let somebody in."""
    return Invitation.objects.filter(
        tenant=tenant, accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now()
    )


def token(invitation: Invitation) -> str:
    return signing.dumps(invitation.pk, salt=SALT)


def find(text: str) -> Invitation | None:
    """An open one by its link's last part; None for what was never signed, or is closed."""
    try:
        key = signing.loads(text, salt=SALT)
    except signing.BadSignature:
        return None
    found = Invitation.objects.select_related("tenant").filter(pk=key).first()
    return found if found and pending(found.tenant).filter(pk=found.pk).exists() else None
