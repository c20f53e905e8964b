"""A tenant's account of prepaid credit: its entries, whose sum is the balance."""

from __future__ import annotations

from django.db import models

from billing.facts import Fact
from billing.money import is_currency


class Reason(models.TextChoices):
    PAID = "paid", "paid ahead"
    GIVEN = "given", "given"
    REFUNDED = "refunded", "paid back"
    DRAWN = "drawn", "drawn for an invoice"
    RETURNED = "returned", "put back by a credit note"


class CreditEntry(Fact):
    """Positive: the tenant has more. The balance is never below zero."""

    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="credit_entries")
    currency = models.CharField(max_length=3, validators=[is_currency])
    amount_micros = models.BigIntegerField()
    reason = models.CharField(max_length=10, choices=Reason.choices)
    document = models.ForeignKey("billing.Document", models.PROTECT, null=True, related_name="+")
    note = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "credit entries"
        # The balance, and the account's page.
        indexes = (models.Index(fields=["tenant", "currency"], name="credit_of_tenant"),)

    def __str__(self) -> str:
        return f"{self.tenant}: {self.get_reason_display()}"
