"""Who changed what, and when: rows that are only ever added, chained by hashes."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models

from ttsapp.audit.actions import sentence_of
from ttsapp.audit.chain import START, moment
from ttsapp.ids import uuid7

PLATFORM = "platform"


class AuditDay(models.Model):
    """The chain of one tenant (or of the installation) on one UTC day: how long it is and where it
    ends. It goes on from the day before, so neither a row nor a day can vanish unseen."""

    scope = models.CharField(max_length=24)
    day = models.DateField()
    length = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, default=START)

    class Meta:
        ordering = ("scope", "day")
        constraints = (models.UniqueConstraint(fields=["scope", "day"], name="one_chain_a_day"),)

    def __str__(self) -> str:
        return f"{self.scope} {self.day}"


class Appended(models.QuerySet["AuditEntry"]):
    """What was written stays. A person who is deleted is unlinked, but their name stays."""

    def update(self, **values: Any) -> NoReturn:
        raise TypeError("audit rows are never changed")

    def delete(self) -> NoReturn:
        raise TypeError("audit rows are never deleted")


class AuditEntry(models.Model):
    """Append-only; written in the transaction of the change it describes. Without a tenant it is
    about the installation."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField()
    tenant = models.ForeignKey(
        "tenants.Tenant", models.PROTECT, null=True, related_name="audit_entries"
    )
    actor_user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    actor = models.CharField(max_length=200)
    # Without choices: an action is a line in `actions.py` and no migration.
    action = models.CharField(max_length=40)
    target = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)
    changes = models.JSONField(default=dict)
    reason = models.CharField(max_length=300, blank=True)
    address = models.CharField(max_length=45, blank=True)
    request_id = models.UUIDField(null=True)
    chain = models.ForeignKey(AuditDay, models.PROTECT, null=True, related_name="entries")
    sequence = models.PositiveIntegerField(null=True)
    hash = models.CharField(max_length=64, blank=True)

    objects = Appended.as_manager()

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"
        constraints = (
            models.UniqueConstraint(fields=["chain", "sequence"], name="one_place_in_a_chain"),
        )
        indexes = (models.Index(fields=["tenant", "id"], name="audit_of_tenant"),)

    def __str__(self) -> str:
        return f"{self.actor} {self.sentence}: {self.target}"

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("audit rows are never deleted")

    @property
    def sentence(self) -> str:
        return sentence_of(self.action)

    def as_row(self) -> dict[str, Any]:
        """As it is exported, and as its hash covers it."""
        return {
            "id": str(self.pk),
            "at": moment(self.at),
            "tenant": self.tenant_id,
            "actor": self.actor,
            "action": self.action,
            "target": self.target,
            "detail": self.detail,
            "changes": self.changes,
            "reason": self.reason,
            "address": self.address,
            "request_id": str(self.request_id) if self.request_id else None,
            "day": self.chain.day.isoformat() if self.chain else None,
            "sequence": self.sequence,
            "hash": self.hash,
        }
