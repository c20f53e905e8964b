"""Issuing documents: one invoice a tenant and month, corrected by credit notes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from django.db import transaction
from django.utils import timezone

from billing import money
from billing.credit.models import Reason
from billing.credit.selectors import balance
from billing.credit.services import move
from billing.invoices import selectors
from billing.invoices.drafts import Draft
from billing.invoices.models import BillingDetails, Document, DocumentLine, Kind, Seller
from billing.prices import uses
from ttsapp.audit.actions import Action
from ttsapp.audit.services import SYSTEM, Actor, record
from ttsapp.errors import invalid
from ttsapp.tenants.models import Tenant


def issue_due(details: BillingDetails, now: datetime) -> int:
    """A tenant's invoices of the months that are over; returns how many it made.

    It may run at any time, twice, or on several machines at once."""
    made = 0
    for month in uses.months(details.next_month, now.date().replace(day=1)):
        if not selectors.is_over(details.tenant, month, now):
            break
        made += issue(SYSTEM, details.tenant, month) is not None
    return made


@transaction.atomic
def issue(actor: Actor, tenant: Tenant, month: date) -> Document | None:
    """The invoice of a month that is over. None where it is not the next one in turn, or where
    the month comes to nothing."""
    details = _lock(tenant)
    if details.next_month != month:
        return None
    details.next_month = uses.next_month(month)
    details.save(update_fields=["next_month"])
    draft = selectors.month_so_far(tenant, month)
    if draft is None or not draft.total_micros:
        return None
    document = _invoice(details, draft, min(draft.total_micros, balance(tenant, draft.currency)))
    if document.credit_micros:
        move(tenant, Reason.DRAWN, -document.credit_micros, draft.currency, document)
    total = money.text(draft.total_micros, draft.currency)
    record(actor, Action.INVOICE_ISSUED, tenant, document.label, total=total)
    return document


@transaction.atomic
def credit(actor: Actor, invoice: Document, amounts: Mapping[int, int], reason: str) -> Document:
    """A credit note over these micros, by position of the invoice's lines. It lowers what is still
    to be paid; what goes beyond that is put back as prepaid credit. Raises ApiError."""
    _lock_tenant(invoice.tenant)
    _check(invoice, amounts, reason)
    total = sum(amounts.values())
    put_back = total - min(total, selectors.still_due(invoice))
    note = _credit_note(invoice, amounts, put_back, reason)
    if put_back:
        move(invoice.tenant, Reason.RETURNED, put_back, invoice.currency, note)
    shown = money.text(total, invoice.currency)
    record(actor, Action.CREDIT_NOTE_ISSUED, invoice.tenant, note.label, reason=reason, total=shown)
    return note


def _lock_tenant(tenant: Tenant) -> None:
    """Always before the seller's row."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)


def _lock(tenant: Tenant) -> BillingDetails:
    _lock_tenant(tenant)
    return BillingDetails.objects.select_related("seller").get(tenant=tenant)


def _next_number(seller: Seller) -> Seller:
    """The number is this transaction's alone, and free again if it fails: there are no gaps."""
    locked = Seller.objects.select_for_update().get(pk=seller.pk)
    locked.last_number += 1
    locked.save(update_fields=["last_number"])
    return locked


def _invoice(details: BillingDetails, draft: Draft, drawn: int) -> Document:
    seller, now = _next_number(details.seller), timezone.now()
    invoice = Document.objects.create(
        seller=seller,
        tenant=details.tenant,
        kind=Kind.INVOICE,
        number=seller.last_number,
        label=seller.label(seller.last_number),
        month=draft.month,
        currency=draft.currency,
        total_micros=draft.total_micros,
        credit_micros=drawn,
        top_up_characters=draft.top_up_characters,
        seller_lines=_address(seller),
        buyer_lines=_address(details),
        note=seller.note,
        issued_at=now,
        due_on=now.date() + timedelta(days=seller.days_to_pay),
    )
    DocumentLine.objects.bulk_create(_lines(invoice, draft))
    return invoice


def _credit_note(
    invoice: Document, amounts: Mapping[int, int], put_back: int, reason: str
) -> Document:
    seller, now = _next_number(invoice.seller), timezone.now()
    note = Document.objects.create(
        seller=seller,
        tenant=invoice.tenant,
        kind=Kind.CREDIT_NOTE,
        number=seller.last_number,
        label=seller.label(seller.last_number),
        month=invoice.month,
        currency=invoice.currency,
        total_micros=sum(amounts.values()),
        credit_micros=put_back,
        corrects=invoice,
        reason=reason,
        seller_lines=invoice.seller_lines,
        buyer_lines=invoice.buyer_lines,
        note=seller.note,
        issued_at=now,
        due_on=now.date(),
    )
    DocumentLine.objects.bulk_create(_corrections(note, invoice, amounts))
    return note


def _address(party: Seller | BillingDetails) -> list[str]:
    """As it is printed."""
    number = f"Tax number: {party.tax_number}" if party.tax_number else ""
    return [line for line in (party.name, *party.address.splitlines(), number) if line.strip()]


def _lines(invoice: Document, draft: Draft) -> list[DocumentLine]:
    return [
        DocumentLine(
            document=invoice,
            position=position,
            text=line.text,
            model=line.rate.model,
            voice_kind=line.rate.voice_kind,
            price_book=draft.book.slug,
            price_version=line.version,
            characters=line.share.characters,
            per_million_micros=line.share.tier.per_million,
            amount_micros=line.amount_micros,
        )
        for position, line in enumerate(draft.lines, start=1)
    ]


def _corrections(
    note: Document, invoice: Document, amounts: Mapping[int, int]
) -> list[DocumentLine]:
    """Each has the position of the line that it corrects."""
    return [
        DocumentLine(
            document=note,
            position=line.position,
            text=line.text,
            model=line.model,
            voice_kind=line.voice_kind,
            price_book=line.price_book,
            price_version=line.price_version,
            characters=0,
            per_million_micros=line.per_million_micros,
            amount_micros=amounts[line.position],
        )
        for line in invoice.lines.filter(position__in=amounts)
    ]


def _check(invoice: Document, amounts: Mapping[int, int], reason: str) -> None:
    if invoice.kind != Kind.INVOICE:
        raise invalid("Only invoices can be corrected.", "document")
    if not reason.strip():
        raise invalid("Say why: the reason is printed on the credit note.", "reason")
    if not amounts:
        raise invalid("Enter an amount for at least one line.", "amounts")
    left = selectors.left_to_correct(invoice)
    for position, micros in amounts.items():
        most = money.text(left.get(position, 0), invoice.currency)
        if not 0 < micros <= left.get(position, 0):
            raise invalid(f"Line {position}: an amount up to {most}.", "amounts")
        if not money.is_payable(micros, invoice.currency):
            places = money.decimals(invoice.currency)
            raise invalid(f"Line {position}: {places}.", "amounts")
