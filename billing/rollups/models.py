"""The table of sums."""

from __future__ import annotations

from django.db import models


class Grain(models.TextChoices):
    HOUR = "hour"
    DAY = "day"


class Rollup(models.Model):
    """What the events of one UTC hour or day, alike in all that they are broken down by, add up
    to. Only `billing.rollups.services` writes it."""

    id = models.UUIDField(primary_key=True, editable=False)
    grain = models.CharField(max_length=4, choices=Grain.choices)
    start = models.DateTimeField()
    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="+", db_index=False)
    key = models.ForeignKey(
        "keys.ApiKey", models.PROTECT, null=True, related_name="+", db_index=False
    )
    model = models.CharField(max_length=100)
    voice = models.CharField(max_length=100)
    voice_kind = models.CharField(max_length=10)
    price_version = models.PositiveIntegerField(null=True)
    requests = models.BigIntegerField()
    cancelled = models.BigIntegerField()
    failures = models.BigIntegerField()
    characters = models.BigIntegerField()
    billed_characters = models.BigIntegerField()
    top_up_characters = models.BigIntegerField()
    audio_ms = models.BigIntegerField()
    frames = models.BigIntegerField()
    text_tokens = models.BigIntegerField()
    talker_us = models.BigIntegerField()
    predictor_us = models.BigIntegerField()
    codec_us = models.BigIntegerField()
    first_audio_ms = models.BigIntegerField(help_text="Sum over the requests that had audio.")
    first_audios = models.BigIntegerField(help_text="How many those are.")
    underruns = models.BigIntegerField()
    interrupted = models.BigIntegerField(help_text="Requests with an underrun.")

    class Meta:
        indexes = (
            models.Index(fields=["tenant", "grain", "start"], name="rollups_of_tenant"),
            # The platform's own sums, and the reconciliation of a day.
            models.Index(fields=["grain", "start"], name="rollups_by_time"),
        )

    def __str__(self) -> str:
        return f"{self.grain} of {self.start:%Y-%m-%d %H:%M}"
