"""What machines cost, how long they were up, and how much of that they worked."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models


class EngineClass(models.Model):
    """Engines that cost the same by the hour. Made when an engine of it is first heard of."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "engine classes"

    def __str__(self) -> str:
        return self.name


class HourlyPrice(models.Model):
    """Of an engine of the class, from a UTC day until the next price's; the first one before its
    day as well."""

    engine_class = models.ForeignKey(EngineClass, models.PROTECT, related_name="prices")
    valid_from = models.DateField()
    per_hour_micros = models.PositiveBigIntegerField()

    class Meta:
        ordering = ("engine_class", "valid_from")
        constraints = (
            models.UniqueConstraint(
                fields=["engine_class", "valid_from"], name="one_hourly_price_a_day"
            ),
        )

    def __str__(self) -> str:
        return f"{self.engine_class} from {self.valid_from}"


class FixedCost(models.Model):
    """What costs the same whatever is spoken: staff, rent, licences."""

    name = models.CharField(max_length=100)
    per_month_micros = models.PositiveBigIntegerField()
    valid_from = models.DateField()
    valid_until = models.DateField(null=True, blank=True, help_text="The first day without it.")

    class Meta:
        ordering = ("name", "valid_from")

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        super().clean()
        if self.valid_until is not None and self.valid_until <= self.valid_from:
            raise ValidationError({"valid_until": "Must be after the day it begins."})


class CapacityRun(models.Model):
    """What `bench capacity` found that one engine of the class serves in time."""

    engine_class = models.ForeignKey(EngineClass, models.PROTECT, related_name="capacity_runs")
    characters_per_second = models.DecimalField(max_digits=12, decimal_places=3)
    measured_at = models.DateTimeField()
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ("engine_class", "-measured_at")

    def __str__(self) -> str:
        return f"{self.engine_class}: {self.characters_per_second} characters/s"


class ReferencePrice(models.Model):
    """What others ask for a million characters, to compare with."""

    name = models.CharField(max_length=100, unique=True)
    per_million_micros = models.PositiveBigIntegerField()
    source = models.CharField(max_length=200, blank=True, help_text="Where and when it was read.")

    class Meta:
        ordering = ("per_million_micros", "name")

    def __str__(self) -> str:
        return self.name


class EngineHeartbeat(models.Model):
    """An engine when it last answered: what the next answer is compared with."""

    engine_id = models.CharField(max_length=100, primary_key=True)
    engine_class = models.ForeignKey(EngineClass, models.PROTECT, related_name="heartbeats")
    at = models.DateTimeField()
    uptime_seconds = models.FloatField()
    busy_seconds = models.FloatField()

    class Meta:
        ordering = ("engine_id",)

    def __str__(self) -> str:
        return self.engine_id


class EngineHour(models.Model):
    """How long in one UTC hour an engine was up, and how long it worked."""

    engine_id = models.CharField(max_length=100)
    engine_class = models.ForeignKey(EngineClass, models.PROTECT, related_name="hours")
    hour = models.DateTimeField()
    up_seconds = models.FloatField()
    busy_seconds = models.FloatField()

    class Meta:
        ordering = ("hour", "engine_id")
        constraints = (
            models.UniqueConstraint(fields=["hour", "engine_id"], name="one_row_an_engine_hour"),
        )

    def __str__(self) -> str:
        return f"{self.engine_id} at {self.hour:%Y-%m-%d %H}h"
