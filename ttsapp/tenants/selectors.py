"""Reading tenants through the person who asks."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet

from ttsapp.tenants.models import Membership, PlatformMembership, PlatformRole


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
