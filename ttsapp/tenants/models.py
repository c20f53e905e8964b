"""Tenants, their members and what each role may do."""

from __future__ import annotations

from enum import Enum

from django.conf import settings
from django.db import models

from ttsapp.limits.fields import LimitFields


class Permission(Enum):
    VIEW = "view"
    SPEAK = "speak"
    MANAGE_KEYS = "manage_keys"


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    DEVELOPER = "developer"
    VIEWER = "viewer"

    def may(self, permission: Permission) -> bool:
        return permission in _PERMISSIONS[self]


_PERMISSIONS = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: frozenset(Permission),
    Role.DEVELOPER: frozenset(Permission),
    Role.VIEWER: frozenset({Permission.VIEW}),
}


class Tenant(LimitFields):
    """A customer of this installation: owns keys and usage. A limit that is empty is the
    installation's own."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    suspended_at = models.DateTimeField(null=True, blank=True, editable=False)
    suspended_because = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in a tenant."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=["tenant", "user"], name="one_role_per_member"),
        )

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.tenant}"

    def may(self, permission: Permission) -> bool:
        return Role(self.role).may(permission)
