"""What one tenant pays by, whom its invoices are made out to, and its prepaid credit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from django import forms as django_forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from billing import reports
from billing.credit import prepaid
from billing.credit import selectors as credit
from billing.credit import services as credit_services
from billing.invoices import forms, parties, selectors, skipped
from billing.invoices.models import BillingDetails
from billing.prices.forms import AgreementForm
from billing.prices.selectors import agreements
from billing.prices.services import agree, earliest_agreement
from billing.prices.uses import midnight, next_month
from ttsapp.audit.services import Actor
from ttsapp.console.access import platform_page
from ttsapp.console.platform.refusals import refused
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole, Tenant
from ttsapp.tenants.selectors import tenants

ENTRIES = 20
Form = django_forms.Form | django_forms.BaseModelForm  # type: ignore[type-arg]


@require_safe
@platform_page(PlatformPermission.VIEW)
def tenant_billing(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    return _show(request, role, _find(slug), {})


@require_POST
@platform_page(PlatformPermission.MANAGE_PRICES)
def save_details(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    tenant, actor = _find(slug), Actor.of(request.user)
    form = forms.DetailsForm(request.POST)
    return _act(
        request,
        role,
        tenant,
        ("details", form),
        lambda: parties.save_details(actor, tenant, **form.cleaned_data),
    )


@require_POST
@platform_page(PlatformPermission.MANAGE_PRICES)
def save_agreement(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    tenant, actor = _find(slug), Actor.of(request.user)
    form = AgreementForm(request.POST)
    return _act(
        request,
        role,
        tenant,
        ("agreement", form),
        lambda: agree(actor, tenant, **form.cleaned_data),
    )


@require_POST
@platform_page(PlatformPermission.MANAGE_PRICES)
def book_credit(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    tenant, actor = _find(slug), Actor.of(request.user)
    form = forms.CreditForm(request.POST)

    def book() -> None:
        wanted = form.cleaned_data
        amount, currency = wanted["amount"], wanted["currency"]
        credit_services.book(actor, tenant, form.chosen(), amount, currency, wanted["note"])

    return _act(request, role, tenant, ("credit", form), book)


def _act(
    request: HttpRequest,
    role: PlatformRole,
    tenant: Tenant,
    filled: tuple[str, Form],
    act: Callable[[], object],
) -> HttpResponse:
    name, form = filled
    if form.is_valid() and not refused(form, act):
        return redirect("platform:tenant_billing", slug=tenant.slug)
    return _show(request, role, tenant, {name: form}, 400)


def _find(slug: str) -> Tenant:
    found = tenants().filter(slug=slug).first()
    if found is None:
        raise Http404
    return found


def _show(
    request: HttpRequest,
    role: PlatformRole,
    tenant: Tenant,
    filled: dict[str, Any],
    status: int = 200,
) -> HttpResponse:
    month = datetime.now(UTC).date().replace(day=1)
    draft = selectors.month_so_far(tenant, month)
    details = selectors.details(tenant)
    currency = {"currency": draft.currency} if draft else {}
    content = {
        "shown": tenant,
        "book": draft.book if draft else None,
        "agreements": agreements(tenant),
        "draft": draft,
        "used": reports.between(tenant, midnight(month), midnight(next_month(month))),
        "version": draft.book.version(datetime.now(UTC).date()) if draft else None,
        "month": month,
        "billing_details": details,
        "not_invoiced": skipped.owed(tenant, details.next_month if details else month),
        "details": _details_form(tenant, details, month),
        "agreement": AgreementForm(initial={"from_month": earliest_agreement(tenant, month)}),
        "credit": forms.CreditForm(initial=currency),
        "balances": credit.balances(tenant),
        "account": prepaid.account(tenant.pk, datetime.now(UTC)),
        "entries": credit.entries(tenant)[:ENTRIES],
        "documents": selectors.documents(tenant),
        "page": "tenants",
    }
    return page(request, role, "tenant_billing", content | filled, status)


def _details_form(tenant: Tenant, details: BillingDetails | None, month: date) -> forms.DetailsForm:
    """Without what only a refusal asks for."""
    initial = {"name": tenant.name, "next_month": month}
    form = forms.DetailsForm(instance=details) if details else forms.DetailsForm(initial=initial)
    del form.fields["never_invoiced"]
    return form
