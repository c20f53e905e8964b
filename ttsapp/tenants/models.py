"""Tenants, their members and what each role may do."""

from __future__ import annotations

from enum import Enum

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from ttsapp.limits.fields import LimitFields
from ttsapp.tenants.names import check_line, check_slug


class Permission(Enum):
    """What may be done in a tenant."""

    VIEW = "view"
    SPEAK = "speak"
    MANAGE_KEYS = "manage_keys"
    MANAGE_VOICES = "manage_voices"
    APPROVE_VOICES = "approve_voices"
    MANAGE_WEBHOOKS = "manage_webhooks"
    MANAGE_MEMBERS = "manage_members"
    MANAGE_SETTINGS = "manage_settings"
    HEAR_REQUESTS = "hear_requests"
    READ_REQUESTS = "read_requests"
    VIEW_BILLING = "view_billing"
    VIEW_AUDIT = "view_audit"


class Role(models.TextChoices):
    """A person's role in one tenant."""

    OWNER = "owner"
    ADMIN = "admin"
    DEVELOPER = "developer"
    VIEWER = "viewer"

    @property
    def permissions(self) -> frozenset[Permission]:
        return _PERMISSIONS[self]

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions

    def may_give(self, role: Role) -> bool:
        """Owners are made, changed and removed by owners."""
        return self.may(Permission.MANAGE_MEMBERS) and (
            self is Role.OWNER or role is not Role.OWNER
        )


class PlatformPermission(Enum):
    """What may be done with the installation."""

    VIEW = "view"
    OPERATE = "operate"
    MANAGE_ENGINES = "manage_engines"
    MANAGE_TENANTS = "manage_tenants"
    MANAGE_PRICES = "manage_prices"
    VIEW_AUDIT = "view_audit"
    MANAGE_OPERATORS = "manage_operators"


class PlatformRole(models.TextChoices):
    """A person's role over the whole installation. Neither opens a tenant's own pages."""

    OPERATOR = "operator"
    AUDITOR = "auditor"

    @property
    def permissions(self) -> frozenset[PlatformPermission]:
        return _PLATFORM_PERMISSIONS[self]

    def may(self, permission: PlatformPermission) -> bool:
        return permission in self.permissions


# The whole matrix: views ask it, and tests open every page in every role.
_PERMISSIONS = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: frozenset(Permission),
    Role.DEVELOPER: frozenset(
        {
            Permission.VIEW,
            Permission.SPEAK,
            Permission.MANAGE_KEYS,
            Permission.MANAGE_VOICES,
            Permission.MANAGE_WEBHOOKS,
            Permission.HEAR_REQUESTS,
            Permission.READ_REQUESTS,
        }
    ),
    Role.VIEWER: frozenset({Permission.VIEW}),
}
_PLATFORM_PERMISSIONS = {
    PlatformRole.OPERATOR: frozenset(PlatformPermission),
    PlatformRole.AUDITOR: frozenset({PlatformPermission.VIEW, PlatformPermission.VIEW_AUDIT}),
}


MOST_SHARE = 100
MOST_AUDIO_HOURS = 720
MOST_TEXT_DAYS = 365


class Tenant(LimitFields):
    """A customer of this installation: owns keys and usage. A limit that is empty is the
    installation's own."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    suspended_at = models.DateTimeField(null=True, blank=True, editable=False)
    suspended_because = models.CharField(max_length=300, blank=True, editable=False)
    # Processes of the version before this one make tenants as well, during an upgrade.
    engine_share = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_SHARE)],
        help_text="Of a full engine, beside others' shares of 1.",
    )
    audio_hours = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        editable=False,
        validators=[MaxValueValidator(MOST_AUDIO_HOURS)],
        help_text="That requests' audio is kept, to be heard again in the console; 0: not at all.",
    )

    text_days = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        editable=False,
        validators=[MaxValueValidator(MOST_TEXT_DAYS)],
        help_text="That requests' texts are kept, masked in the console; 0: not at all.",
    )

    reviews_voices = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="A clone waits until an owner or admin approves it.",
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        super().clean()
        for field, check in (("name", check_line), ("slug", check_slug)):
            if field == "name" or self._state.adding:
                try:
                    check(getattr(self, field))
                except ValidationError as error:
                    raise ValidationError({field: error.messages}) from None


class PlatformMembership(models.Model):
    """A person's role over the installation; a superuser is an operator without one."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="platform_membership"
    )
    role = models.CharField(max_length=20, choices=PlatformRole.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of the installation"


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

    def clean(self) -> None:
        super().clean()
        owners = Membership.objects.filter(tenant_id=self.tenant_id, role=Role.OWNER)
        is_owner = owners.filter(pk=self.pk).exists()
        if self.role != Role.OWNER and is_owner and owners.count() == 1:
            raise ValidationError(
                {"role": "A tenant needs an owner: make somebody else one first."}
            )

    def may(self, permission: Permission) -> bool:
        return Role(self.role).may(permission)


class Invitation(models.Model):
    """A place in a tenant for whoever has the link. The link is signed and kept nowhere."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="invitations")
    role = models.CharField(max_length=20, choices=Role.choices)
    label = models.CharField(max_length=200)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.label} to {self.tenant}"
