"""Who changed what of a tenant's, and when."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from ttsapp.ids import uuid7


class Action(models.TextChoices):
    """Every action there is: none is free text."""

    TENANT_CREATED = "tenant.created", "created the tenant"
    TENANT_RENAMED = "tenant.renamed", "renamed the tenant"
    TENANT_SUSPENDED = "tenant.suspended", "suspended the tenant"
    TENANT_RESTORED = "tenant.restored", "restored the tenant"
    TENANT_LIMITED = "tenant.limited", "changed the tenant's limits"
    MEMBER_ADDED = "member.added", "added a member"
    MEMBER_ROLE_CHANGED = "member.role_changed", "changed a member's role"
    MEMBER_REMOVED = "member.removed", "removed a member"
    KEY_CREATED = "key.created", "created a key"
    KEY_CHANGED = "key.changed", "changed what a key may do"
    KEY_ROTATED = "key.rotated", "gave a key a new secret"
    KEY_REVOKED = "key.revoked", "revoked a key"
    WORD_ADDED = "word.added", "added a word to the lexicon"
    WORD_CHANGED = "word.changed", "changed a word of the lexicon"
    WORD_REMOVED = "word.removed", "removed a word from the lexicon"


class AuditEntry(models.Model):
    """Append-only; written in the transaction of the change it describes."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField(auto_now_add=True)
    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="audit_entries")
    actor_user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    actor = models.CharField(max_length=200)
    action = models.CharField(max_length=40, choices=Action.choices)
    target = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)
    request_id = models.UUIDField(null=True)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.actor} {self.get_action_display()}: {self.target}"
