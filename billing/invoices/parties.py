"""Changing who bills whom. Documents that were issued stay as they are."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from django.db import transaction

from billing.invoices.fonts import unprintable
from billing.invoices.models import BillingDetails, Document, Kind, Seller
from billing.invoices.skipped import latest, skipped
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import invalid
from ttsapp.tenants.models import Tenant


@transaction.atomic
def save_seller(actor: Actor, seller: Seller, **fields: Any) -> Seller:
    """A new one, or one that is there. Raises ApiError."""
    _check_letters(fields)
    if Seller.objects.exclude(pk=seller.pk).filter(prefix=fields["prefix"]).exists():
        raise invalid("Another seller numbers its documents like that.", "prefix")
    if seller.pk is not None:
        seller = Seller.objects.select_for_update().get(pk=seller.pk)
    if seller.last_number and fields["prefix"] != seller.prefix:
        raise invalid("Documents have been numbered with it: it stays as it is.", "prefix")
    changes = _change(seller, fields)
    seller.save(update_fields=list(fields) if seller.pk is not None else None)
    record(actor, Action.SELLER_CHANGED, None, seller.name, changes=changes)
    return seller


@transaction.atomic
def save_details(
    actor: Actor, tenant: Tenant, *, never_invoiced: str = "", **fields: Any
) -> BillingDetails:
    """Whom the tenant's invoices are made out to, from `next_month` on. `never_invoiced`: what the
    months come to that this leaves out, said by who means to. Raises ApiError."""
    _check_letters(fields)
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    month: date = fields["next_month"]
    if month.day != 1:
        raise invalid("Invoices begin on the first of a month.", "next_month")
    if Document.objects.filter(tenant=tenant, kind=Kind.INVOICE, month__gte=month).exists():
        raise invalid("That month is invoiced already: choose a later one.", "next_month")
    found = BillingDetails.objects.filter(tenant=tenant).first()
    given_up = _check_skipped(tenant, found.next_month if found else None, month, never_invoiced)
    details = found or BillingDetails(tenant=tenant)
    changes = _change(details, fields)
    details.save()
    record(actor, Action.BILLING_DETAILS_CHANGED, tenant, tenant.slug, changes=changes, **given_up)
    return details


def _check_skipped(
    tenant: Tenant, before: date | None, month: date, never_invoiced: str
) -> dict[str, str]:
    """What the audit log has to say of months that are left out; nothing where there are none."""
    today = datetime.now(UTC).date()
    if before == month:
        return {}
    if month > latest(today):
        message = f"Months to come are never left out: choose {latest(today):%Y-%m} at the latest."
        raise invalid(message, "next_month")
    found = skipped(tenant, before, month, today)
    if found is None:
        return {}
    if never_invoiced.strip() != found.sum:
        raise invalid(
            f"{found.months[0]:%B %Y} is not invoiced yet, and would never be: choose"
            f" {found.months[0]:%Y-%m}, or write {found.sum} under Never to be invoiced.",
            "next_month",
        )
    months = ", ".join(f"{each:%Y-%m}" for each in found.months)
    return {"never_invoiced": found.sum, "months": months}


def _check_letters(fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if isinstance(value, str) and (missing := unprintable(value)):
            raise invalid(
                f"Documents cannot be printed with {missing[:20]!r}: name a font that has it in"
                " PARLANCE_INVOICE_FONT, or write it in other letters.",
                name,
            )


def _change(row: Seller | BillingDetails, fields: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Sets the fields; what was and what is, of those that are other now."""
    changes = {}
    for name, value in fields.items():
        before = getattr(row, name, None) if name != "seller" or row.pk else None
        if before != value:
            changes[name] = (str(before or ""), str(value))
        setattr(row, name, value)
    return changes
