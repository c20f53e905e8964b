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


class EngineSample(models.Model):
    """An engine as the worker found it in some minute: what the engines page shows of the time
    before it was opened. Counters are the engine's own, since its core started."""

    at = models.DateTimeField()
    engine_id = models.CharField(max_length=100)
    streams = models.PositiveIntegerField()
    capacity = models.PositiveIntegerField()
    waiting = models.PositiveIntegerField()
    busy_seconds = models.FloatField()
    core_restarts = models.PositiveIntegerField()

    class Meta:
        # One engine's last hour; and all that is too old.
        indexes = (
            models.Index(fields=["engine_id", "at"], name="samples_of_an_engine"),
            models.Index(fields=["at"], name="samples_by_time"),
        )

    def __str__(self) -> str:
        return f"{self.engine_id} at {self.at}"


class SpokenHour(models.Model):
    """One hour of all tenants together. Kept by the worker, so that no page adds up a thousand
    tenants' rows or sorts a day's requests. `noted_at`: what came later is not in it."""

    hour = models.DateTimeField(primary_key=True)
    noted_at = models.DateTimeField()
    requests = models.PositiveBigIntegerField()
    failures = models.PositiveBigIntegerField()
    billed_characters = models.PositiveBigIntegerField()
    audio_ms = models.PositiveBigIntegerField()
    interrupted = models.PositiveBigIntegerField(help_text="Requests whose playback had a gap.")
    # To first audio, in milliseconds.
    p50 = models.PositiveIntegerField(null=True)
    p95 = models.PositiveIntegerField(null=True)
    p99 = models.PositiveIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.hour}"
