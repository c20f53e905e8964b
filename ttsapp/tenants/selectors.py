"""Reading tenants through the person who asks."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from ttsapp.keys.models import ApiKey
from ttsapp.tenants.models import Membership, PlatformMembership, PlatformRole, Role, Tenant


def tenant(tenant_id: int) -> Tenant:
    return Tenant.objects.get(pk=tenant_id)


def memberships(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Membership]:
    return Membership.objects.filter(user__id=user.pk or 0).select_related("tenant")


def membership(user: AbstractBaseUser | AnonymousUser, slug: str) -> Membership | None:
    """None for a tenant that is not there and for one that is none of this person's business."""
    return memberships(user).filter(tenant__slug=slug).first()


def platform_role(user: AbstractBaseUser | AnonymousUser) -> PlatformRole | None:
    """What this person may do with the whole installation; None for most people."""
    if getattr(user, "is_superuser", False):
        return PlatformRole.OPERATOR
    found = PlatformMembership.objects.filter(user__id=user.pk or 0).first()
    return PlatformRole(found.role) if found else None


def platform_people() -> QuerySet[User]:
    """Everybody with a role over the installation."""
    some = Q(is_superuser=True) | Q(platform_membership__isnull=False)
    return User.objects.filter(some).select_related("platform_membership").order_by("username")


def tenants(name: str = "", state: str = "") -> QuerySet[Tenant]:
    """Of the whole installation: for who runs it."""
    found = Tenant.objects.all()
    if name:
        found = found.filter(Q(name__icontains=name) | Q(slug__icontains=name))
    if state:
        found = found.filter(suspended_at__isnull=state == "active")
    return found


def counted(tenants: QuerySet[Tenant]) -> QuerySet[Tenant]:
    """With how many members each has, and how many keys that work."""
    return tenants.annotate(
        member_count=_count(Membership.objects.all()),
        key_count=_count(ApiKey.objects.filter(revoked_at=None)),
    )


def members(tenant: Tenant) -> QuerySet[Membership]:
    return Membership.objects.filter(tenant=tenant).select_related("user", "tenant")


def is_last_owner(membership: Membership) -> bool:
    """Whether the tenant would be without an owner if they were none."""
    owners = Membership.objects.filter(tenant_id=membership.tenant_id, role=Role.OWNER)
    return owners.filter(pk=membership.pk).exists() and owners.count() == 1


def _count(rows: QuerySet[Any]) -> Coalesce:
    """A subquery for each row that is shown: a join would multiply members by keys."""
    own = rows.filter(tenant=OuterRef("pk")).order_by().values("tenant")
    return Coalesce(Subquery(own.annotate(number=Count("pk")).values("number")), 0)
