"""Moving prepaid credit: one entry a movement, and never below zero."""

from __future__ import annotations

from django.db import transaction

from billing import money
from billing.credit.models import CreditEntry, Reason
from billing.credit.selectors import balance
from billing.invoices.models import Document
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import invalid
from ttsapp.tenants.models import Tenant

MOST = 10**9 * money.MICROS
BY_HAND = (Reason.PAID, Reason.GIVEN, Reason.REFUNDED)


@transaction.atomic
def book(
    actor: Actor, tenant: Tenant, reason: Reason, micros: int, currency: str, note: str = ""
) -> CreditEntry:
    """What an operator enters: paid ahead, given, or paid back. Raises ApiError."""
    assert reason in BY_HAND
    if not 0 < micros <= MOST or not money.is_payable(micros, currency):
        least = money.text(money.smallest(currency), currency)
        most = money.text(MOST, currency)
        raise invalid(f"An amount from {least} to {most}, in whole {least}.", "amount")
    if reason is Reason.REFUNDED:
        micros = -micros
    entry = move(tenant, reason, micros, currency, note=note)
    shown = money.text(micros, currency)
    record(actor, Action.CREDIT_BOOKED, tenant, shown, reason=note, kind=reason.value)
    return entry


def move(
    tenant: Tenant,
    reason: Reason,
    micros: int,
    currency: str,
    document: Document | None = None,
    note: str = "",
) -> CreditEntry:
    """Inside the caller's transaction, which holds the tenant's row from here on."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    have = balance(tenant, currency)
    if have + micros < 0:
        raise invalid(f"There is only {money.text(have, currency)} to pay back.", "amount")
    return CreditEntry.objects.create(
        tenant=tenant,
        currency=currency,
        amount_micros=micros,
        reason=reason,
        document=document,
        note=note,
    )
