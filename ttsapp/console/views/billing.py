"""The tenant's bill: the month so far, prices, credit, and every document."""

from __future__ import annotations

from datetime import UTC, date, datetime
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from billing import reports
from billing.credit import prepaid
from billing.credit import selectors as credit
from billing.invoices import selectors
from billing.prices.uses import midnight, next_month
from ttsapp.console.access import member_page
from ttsapp.console.files import document_pdf, documents_csv
from ttsapp.console.shell import page
from ttsapp.tenants.models import Membership, Permission

MONTHS = 12
ENTRIES = 20


@require_safe
@member_page(Permission.VIEW_BILLING)
def billing(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant, month = membership.tenant, _this_month()
    drafts = selectors.latest_months(tenant, month, MONTHS)
    draft = next((each for each in drafts if each.month == month), None)
    book = draft.book if draft else None
    content = {
        "month": month,
        "draft": draft,
        "months": drafts,
        "used": reports.between(tenant, midnight(month), midnight(next_month(month))),
        "book": book,
        "version": book.version(_today()) if book else None,
        "balances": credit.balances(tenant),
        "account": prepaid.account(tenant.pk, datetime.now(UTC)),
        "entries": credit.entries(tenant)[:ENTRIES],
        "documents": selectors.documents(tenant),
        "details": selectors.details(tenant),
    }
    return page(request, membership, "billing", content)


@require_safe
@member_page(Permission.VIEW_BILLING)
def billing_csv(request: HttpRequest, membership: Membership) -> HttpResponse:
    found = list(selectors.documents(membership.tenant))
    return documents_csv(found, f"documents-{membership.tenant.slug}.csv")


@require_safe
@member_page(Permission.VIEW_BILLING)
def billing_pdf(request: HttpRequest, membership: Membership, wanted: UUID) -> HttpResponse:
    document = selectors.document(membership.tenant, wanted)
    if document is None:
        raise Http404
    return document_pdf(document)


def _today() -> date:
    return datetime.now(UTC).date()


def _this_month() -> date:
    return _today().replace(day=1)
