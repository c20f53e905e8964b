"""How long events are kept, and what the reconciliation found."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.lookups import IsNull

from ttsapp.ids import uuid7

# Last month must still be there to be invoiced and compared.
FEWEST_DAYS, MOST_DAYS = 62, 3650


class Retention(models.Model):
    """How long a tenant's usage events are kept; without a row, for ever. Sums stay."""

    tenant = models.OneToOneField("tenants.Tenant", models.PROTECT, primary_key=True)
    days = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(FEWEST_DAYS), MaxValueValidator(MOST_DAYS)],
        help_text=f"{FEWEST_DAYS} to {MOST_DAYS}; empty: for ever. What was removed stays removed.",
    )
    kept_from = models.DateTimeField(
        null=True, editable=False, help_text="Events before this have been removed."
    )

    def __str__(self) -> str:
        return f"{self.days} days of {self.tenant}" if self.days else f"all of {self.tenant}"


class Finding(models.Model):
    """Something about the ledger that a person has to look at, until it is found no more."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    check_name = models.CharField(max_length=30, help_text="Which check found it.")
    subject = models.CharField(max_length=200, help_text="What it found it in.")
    detail = models.CharField(max_length=500)
    found_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="When it was found last.")
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=["check_name", "subject"],
                condition=models.Q(resolved_at=None),
                name="one_open_finding",
            ),
        )

    def __str__(self) -> str:
        return f"{self.check_name}: {self.subject}"


class LedgerCheck(models.Model):
    """One run of the reconciliation, by the schedule or for a person, and what it added up.

    Before it begins it has no `began_at`; one whose process died has no `ended_at` either."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    asked_at = models.DateTimeField()
    asked_by = models.CharField(max_length=200, blank=True, help_text="Empty: the schedule.")
    since = models.DateTimeField()
    until = models.DateTimeField()
    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    sides = models.JSONField(default=list, help_text="What was added up, and against what.")
    differences = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=300, blank=True, help_text="Why it broke off.")

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                IsNull(models.F("ended_at"), True),
                condition=models.Q(ended_at=None) & ~models.Q(asked_by=""),
                name="one_check_asked_for",
            ),
        )

    def __str__(self) -> str:
        return f"{self.since:%Y-%m-%d} to {self.until:%Y-%m-%d}: {self.differences} differences"
