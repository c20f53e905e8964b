"""Requests that named an idempotency key, and their answers."""

from __future__ import annotations

from django.db import models


class KeyedRequest(models.Model):
    """The id is made of caller and key, so that one of two that come at once finds the other.

    While it `is_running`, the request `request_id` works on it, and its process says so again and
    again: after `leased_until` it must have died."""

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, related_name="+", db_index=False)
    fingerprint = models.CharField(max_length=64, help_text="Of method, path and body.")
    request_id = models.UUIDField()
    is_running = models.BooleanField()
    leased_until = models.DateTimeField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    headers = models.JSONField(default=dict)
    size = models.PositiveIntegerField(default=0)
    body = models.BinaryField(null=True, help_text="None: it runs, or was too long to be kept.")

    class Meta:
        ordering = ("-created_at",)
        # A tenant's oldest answers go first when it has too many.
        indexes = (models.Index(fields=["tenant", "created_at"], name="answers_of_tenant"),)

    def __str__(self) -> str:
        return str(self.request_id)
