"""Changes to tenants and their members, each with its audit row in one transaction."""

from __future__ import annotations

from dataclasses import asdict

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import ApiError
from ttsapp.limits.rules import Limits
from ttsapp.tenants import selectors
from ttsapp.tenants.models import Membership, PlatformMembership, PlatformRole, Role, Tenant


@transaction.atomic
def create_tenant(actor: Actor, name: str, slug: str) -> Tenant:
    tenant = Tenant.objects.create(name=name, slug=slug)
    record(actor, Action.TENANT_CREATED, tenant, slug, name=name)
    return tenant


@transaction.atomic
def rename_tenant(actor: Actor, tenant: Tenant, name: str) -> None:
    locked = Tenant.objects.select_for_update().get(pk=tenant.pk)
    before, locked.name = locked.name, name
    if before == name:
        return
    locked.save(update_fields=["name"])
    record(actor, Action.TENANT_RENAMED, tenant, tenant.slug, changes={"name": (before, name)})


@transaction.atomic
def limit_tenant(
    actor: Actor, tenant: Tenant, limits: Limits, engine_share: int | None = None
) -> bool:
    """In force within a second. False when they are as they were. The share stays if None."""
    locked = Tenant.objects.select_for_update().get(pk=tenant.pk)
    before: dict[str, int | None] = asdict(locked.limits)
    before["engine_share"] = locked.engine_share
    after = {**asdict(limits), "engine_share": engine_share or locked.engine_share}
    changed = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
    if not changed:
        return False
    Tenant.objects.filter(pk=tenant.pk).update(**after)
    record(actor, Action.TENANT_LIMITED, tenant, tenant.slug, changes=changed)
    return True


@transaction.atomic
def keep_audio(actor: Actor, tenant: Tenant, hours: int) -> bool:
    """For how long requests' audio is kept from now on; 0: not at all. What is kept already stays
    for as long as it was to be. False when that is as it was."""
    locked = Tenant.objects.select_for_update().get(pk=tenant.pk)
    if locked.audio_hours == hours:
        return False
    changes = {"audio_hours": (locked.audio_hours, hours)}
    Tenant.objects.filter(pk=tenant.pk).update(audio_hours=hours)
    record(actor, Action.AUDIO_RETENTION_CHANGED, tenant, tenant.slug, changes=changes)
    return True


@transaction.atomic
def review_voices(actor: Actor, tenant: Tenant, is_wanted: bool) -> bool:
    """Whether clones from now on wait for approval. False when that is as it was."""
    locked = Tenant.objects.select_for_update().get(pk=tenant.pk)
    if locked.reviews_voices == is_wanted:
        return False
    Tenant.objects.filter(pk=tenant.pk).update(reviews_voices=is_wanted)
    changes = {"reviews_voices": (locked.reviews_voices, is_wanted)}
    record(actor, Action.REVIEWS_CHANGED, tenant, tenant.slug, changes=changes)
    return True


@transaction.atomic
def suspend_tenant(actor: Actor, tenant: Tenant, reason: str = "") -> bool:
    """Its keys answer 403 within a second, and its people read the reason in their console.
    False when it was suspended already."""
    found = Tenant.objects.filter(pk=tenant.pk, suspended_at=None)
    if not found.update(suspended_at=timezone.now(), suspended_because=reason):
        return False
    record(actor, Action.TENANT_SUSPENDED, tenant, tenant.slug, reason=reason)
    return True


@transaction.atomic
def restore_tenant(actor: Actor, tenant: Tenant) -> bool:
    found = Tenant.objects.filter(pk=tenant.pk, suspended_at__isnull=False)
    if not found.update(suspended_at=None, suspended_because=""):
        return False
    record(actor, Action.TENANT_RESTORED, tenant, tenant.slug)
    return True


@transaction.atomic
def add_member(actor: Actor, tenant: Tenant, user: AbstractBaseUser, role: Role) -> Membership:
    membership = Membership.objects.create(tenant=tenant, user_id=user.pk, role=role)
    record(actor, Action.MEMBER_ADDED, tenant, user.get_username(), role=role)
    return membership


@transaction.atomic
def change_role(actor: Actor, membership: Membership, role: Role) -> None:
    """Raises ApiError 409 rather than leave the tenant without an owner."""
    locked = _lock_member(membership)
    before, locked.role = locked.role, role
    if before == role:
        return
    _keep_an_owner(locked)
    locked.save(update_fields=["role"])
    name = membership.user.get_username()
    changes = {"role": (before, role)}
    record(actor, Action.MEMBER_ROLE_CHANGED, membership.tenant, name, changes=changes)


@transaction.atomic
def remove_member(actor: Actor, membership: Membership) -> None:
    """Raises ApiError 409 rather than leave the tenant without an owner."""
    name, role = membership.user.get_username(), membership.role
    locked = _lock_member(membership)
    _keep_an_owner(locked)
    locked.delete()
    record(actor, Action.MEMBER_REMOVED, membership.tenant, name, role=role)


@transaction.atomic
def set_platform_role(actor: Actor, user: AbstractBaseUser, role: PlatformRole) -> None:
    name = user.get_username()
    found = PlatformMembership.objects.select_for_update().filter(user_id=user.pk).first()
    before = found.role if found else None
    if before == role:
        return
    PlatformMembership.objects.update_or_create(user_id=user.pk, defaults={"role": role})
    record(actor, Action.OPERATOR_ADDED, None, name, changes={"role": (before, role)})


@transaction.atomic
def take_platform_role(actor: Actor, user: AbstractBaseUser) -> bool:
    """False when there was none."""
    found = PlatformMembership.objects.select_for_update().filter(user_id=user.pk).first()
    if found is None:
        return False
    found.delete()
    name = user.get_username()
    record(actor, Action.OPERATOR_REMOVED, None, name, changes={"role": (found.role, None)})
    return True


def _lock_member(membership: Membership) -> Membership:
    """The tenant first: two owners who demote each other at once must not both succeed."""
    Tenant.objects.select_for_update().get(pk=membership.tenant_id)
    return Membership.objects.select_for_update().get(pk=membership.pk)


def _keep_an_owner(membership: Membership) -> None:
    if selectors.is_last_owner(membership):
        message = "A tenant needs an owner: make somebody else one first."
        raise ApiError(409, "last_owner", message)
