"""Moving prepaid credit: one entry a movement, and never below zero."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from billing import money
from billing.credit import prepaid
from billing.credit.models import CreditEntry, Reason
from billing.credit.selectors import balance, paid_in
from billing.invoices.models import BillingDetails, Document
from billing.prices.selectors import price_list
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
        _check_left(tenant, micros, currency)
        micros = -micros
    else:
        _check_currency(tenant, currency)
    entry = move(tenant, reason, micros, currency, note=note)
    shown = money.text(micros, currency)
    record(actor, Action.CREDIT_BOOKED, tenant, shown, reason=note, kind=reason.value)
    return entry


def _check_left(tenant: Tenant, micros: int, currency: str) -> None:
    """What is used up and not invoiced yet is no more to be paid back than what was drawn."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    have, paid = balance(tenant, currency), paid_in(tenant, currency)
    if paid < micros <= have:
        message = (
            f"Only {money.text(paid, currency)} was paid in and not paid back yet: what was given"
            " is not paid out."
        )
        raise invalid(message, "amount")
    left = prepaid.left_to_pay_back(tenant.pk, currency, timezone.now())
    if left is not None and micros > left:
        message = (
            f"Only {money.text(left, currency)} is left: the rest is used up, or being spoken."
        )
        raise invalid(message, "amount")


def _check_currency(tenant: Tenant, currency: str) -> None:
    """One that its invoices have, those to come included. Without prices any may be."""
    month = timezone.now().date().replace(day=1)
    details = BillingDetails.objects.filter(tenant=tenant).first()
    since = min(month, details.next_month) if details else month
    books = price_list().books_from(tenant.pk, since)
    if books and currency not in {book.currency for book in books}:
        pays = " and ".join(dict.fromkeys(f"{book.name} in {book.currency}" for book in books))
        message = f"{tenant.name} pays by {pays}: credit in {currency} would never be drawn."
        raise invalid(message, "currency")


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
