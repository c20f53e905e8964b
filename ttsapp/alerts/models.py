"""Alerts, who is told of them, and webhooks with all that was sent to them.

Without a tenant a row is about the installation."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from ttsapp.ids import uuid7


class State(models.TextChoices):
    OK = "ok", "ok"
    WARNING = "warning", "warning"
    ALERT = "alert", "alert"
    NO_DATA = "no_data", "no data"

    @property
    def is_trouble(self) -> bool:
        return self in TROUBLE


TROUBLE = (State.WARNING, State.ALERT)


class Alert(models.Model):
    """What a rule last said of one subject. `step`: the highest of the rule's steps reached."""

    rule = models.CharField(max_length=30)
    scope = models.CharField(max_length=24)
    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, null=True, related_name="alerts")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OK)
    step = models.PositiveSmallIntegerField(default=0)
    value = models.FloatField(null=True)
    text = models.CharField(max_length=300, blank=True)
    since = models.DateTimeField(default=timezone.now)
    checked_at = models.DateTimeField(default=timezone.now)
    told_at = models.DateTimeField(null=True)
    muted_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ("rule", "scope")
        constraints = (models.UniqueConstraint(fields=["rule", "scope"], name="one_alert_a_scope"),)

    def __str__(self) -> str:
        return f"{self.rule} of {self.scope}: {self.state}"

    @property
    def is_muted(self) -> bool:
        return self.muted_until is not None and self.muted_until > timezone.now()


class AlertChange(models.Model):
    """That an alert's state changed, or rose a step: never edited."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField()
    alert = models.ForeignKey(Alert, models.CASCADE, related_name="alert_changes")
    before = models.CharField(max_length=10, choices=State.choices)
    after = models.CharField(max_length=10, choices=State.choices)
    text = models.CharField(max_length=300, blank=True)
    was_told = models.BooleanField()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.alert.rule}: {self.before} to {self.after}"


class RuleChoice(models.Model):
    """Where an operator wants other thresholds than a rule's own, or none at all."""

    rule = models.CharField(max_length=30, primary_key=True)
    warning = models.FloatField(null=True)
    alert = models.FloatField(null=True)
    is_enabled = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.rule


class Asking(models.Model):
    """When a rule was last asked: of tenants that it finds nothing to say of, no alert tells."""

    rule = models.CharField(max_length=30, primary_key=True)
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "askings"

    def __str__(self) -> str:
        return self.rule


class Recipients(models.Model):
    """Whose mail boxes hear of a scope's alerts."""

    scope = models.CharField(max_length=24, primary_key=True)
    addresses = models.JSONField(default=list)

    def __str__(self) -> str:
        return ", ".join(self.addresses)


class Webhook(models.Model):
    """An address that events are sent to, signed with a secret that is kept encrypted."""

    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, null=True, related_name="webhooks")
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=300)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One event for one webhook, until it arrived or was given up."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=40)
    body = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True, default=timezone.now)
    delivered_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "deliveries"
        indexes = (
            models.Index(
                fields=["next_at"],
                condition=models.Q(next_at__isnull=False),
                name="deliveries_due",
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook}"

    @property
    def state(self) -> str:
        if self.delivered_at:
            return "delivered"
        return "given up" if self.next_at is None else "waiting" if not self.attempts else "failing"


class SeenNetwork(models.Model):
    """A network that a key was used from, as far as last use tells."""

    key = models.ForeignKey("keys.ApiKey", models.CASCADE, related_name="+")
    network = models.CharField(max_length=50)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["key", "network"], name="one_network_a_key"),
        )
        indexes = (models.Index(fields=["seen_at"], name="networks_by_time"),)

    def __str__(self) -> str:
        return f"{self.key} from {self.network}"
