"""API keys: what is kept of a key once its owner has seen it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from ttsapp.keys.rules import USUAL_SCOPES, KeyRules
from ttsapp.limits.fields import LimitFields


class Environment(models.TextChoices):
    LIVE = "live"
    TEST = "test"


def every_scope() -> list[str]:
    """Named in migrations: the scopes of a key that nobody chose any for."""
    return list(USUAL_SCOPES)


class ApiKey(LimitFields):
    """Only the hash of the secret is stored: a lost key is replaced, never recovered.

    Empty lists of voices, models and networks allow any. After a rotation the previous secret
    works until `previous_until`."""

    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="keys")
    name = models.CharField(max_length=100)
    environment = models.CharField(max_length=4, choices=Environment.choices)
    public_id = models.CharField(max_length=10, unique=True)
    secret_hash = models.BinaryField(max_length=32)
    last_four = models.CharField(max_length=4)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    last_used_address = models.CharField(max_length=45, blank=True)
    last_used_agent = models.CharField(max_length=200, blank=True)
    scopes = models.JSONField(default=every_scope)
    allowed_voices = models.JSONField(default=list, blank=True)
    allowed_models = models.JSONField(default=list, blank=True)
    allowed_networks = models.JSONField(default=list, blank=True)
    previous_hash = models.BinaryField(max_length=32, null=True)
    previous_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = "API key"
        verbose_name_plural = "API keys"

    def __str__(self) -> str:
        return f"{self.name} ({self.hint})"

    @property
    def hint(self) -> str:
        """Enough to recognise the key by, and to find it in logs."""
        return f"parl_{self.environment}_{self.public_id}_…{self.last_four}"

    @property
    def rules(self) -> KeyRules:
        return KeyRules.of(
            self.scopes, self.allowed_voices, self.allowed_models, self.allowed_networks
        )

    @property
    def is_rotating(self) -> bool:
        """Whether the previous secret still works."""
        return self.previous_until is not None and self.previous_until > timezone.now()

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return "expired" if expired else "active"


class UsedToken(models.Model):
    """A single-use token that has been used: kept until the token would have expired anyway."""

    id = models.UUIDField(primary_key=True, editable=False)
    used_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return str(self.id)
