"""What the console itself has to remember."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from ttsapp.ids import uuid7


class SignInAttempt(models.Model):
    """An attempt to sign in that has not succeeded, kept for as long as it counts."""

    at = models.DateTimeField()
    username = models.CharField(max_length=150)
    address = models.CharField(max_length=50)

    class Meta:
        indexes = (
            models.Index(fields=["address", "at"], name="attempts_by_address"),
            models.Index(fields=["at"], name="attempts_by_time"),
        )

    def __str__(self) -> str:
        return f"{self.username} from {self.address}"


class SavedView(models.Model):
    """A person's filter of a list, under a name; `is_shared`: with everybody who may see the list
    there. Without a tenant it is of the installation's pages."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views")
    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, null=True)
    page = models.CharField(max_length=40)
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000, help_text="Of the list's address.")
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name", "id")
        indexes = (models.Index(fields=["tenant", "page"], name="views_of_a_list"),)

    def __str__(self) -> str:
        return f"{self.name} of {self.page}"
