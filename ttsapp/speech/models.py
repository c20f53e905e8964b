"""The request log: how each request fared; and its text, where the tenant wants that kept."""

from __future__ import annotations

from django.db import models


class RequestLog(models.Model):
    """One row for each request of a known tenant, refused ones included."""

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="+")
    key = models.ForeignKey("keys.ApiKey", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    transport = models.CharField(max_length=10)
    status = models.PositiveSmallIntegerField(help_text="HTTP status; 499: the client left.")
    model = models.CharField(max_length=100, blank=True)
    voice = models.CharField(max_length=100, blank=True)
    response_format = models.CharField(max_length=10, blank=True)
    seed = models.BigIntegerField(null=True)
    characters = models.PositiveIntegerField(default=0)
    audio_ms = models.PositiveIntegerField(default=0)
    first_audio_ms = models.PositiveIntegerField(null=True)
    total_ms = models.PositiveIntegerField(default=0)
    finish_reason = models.CharField(max_length=10, blank=True)
    error_code = models.CharField(max_length=50, blank=True)
    error_field = models.CharField(max_length=50, blank=True)
    # Processes of the version before this one log as well, during an upgrade.
    recording = models.CharField(
        max_length=80,
        blank=True,
        default="",
        db_default="",
        help_text="Its audio's file, where the tenant wanted it kept; see `ttsapp.speech.kept`.",
    )
    timeline = models.BinaryField(
        null=True, help_text="When its audio was handed over: `ttsapp.speech.timeline`."
    )

    asked = models.BinaryField(
        null=True, help_text="What decided its audio beside its text: `ttsapp.speech.asked`."
    )

    class Meta:
        ordering = ("-id",)
        # The console's newest requests of a tenant.
        # The audio that was made under a consent, by its voices.
        indexes = (
            models.Index(fields=["tenant", "-id"], name="requests_by_tenant"),
            models.Index(fields=["voice", "-id"], name="requests_by_voice"),
        )

    def __str__(self) -> str:
        return str(self.id)

    @property
    def audio_seconds(self) -> float:
        return self.audio_ms / 1000

    @property
    def ended(self) -> str:
        """How it ended, in one word for a list."""
        return self.finish_reason or ("refused" if self.status < 500 else "error")


class KeptText(models.Model):
    """What a request was to say, and how, by the request's id; for as many days as its tenant says
    now."""

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="+")
    at = models.DateTimeField()
    text = models.TextField()
    instructions = models.TextField(default="", db_default="")

    class Meta:
        ordering = ("-id",)
        # Those whose days are over.
        indexes = (models.Index(fields=["tenant", "at"], name="texts_by_age"),)

    def __str__(self) -> str:
        return str(self.id)
