"""Every tenant's documents, who sends them, and the credit notes that correct them."""

from __future__ import annotations

from uuid import UUID

from django import forms as django_forms
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from billing.fields import MonthField
from billing.invoices import forms, parties, selectors, services
from billing.invoices.models import Document, Kind, Seller
from ttsapp.audit.services import Actor
from ttsapp.console.access import platform_page, require
from ttsapp.console.files import document_pdf, documents_csv
from ttsapp.console.platform.refusals import refused
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole

PAGE = 50
# Of tenants without billing details: the first ones, and how many more there are.
LEFT_OUT = 10


class SearchForm(django_forms.Form):
    q = django_forms.CharField(required=False, max_length=100, label="Tenant or number")
    month = MonthField(required=False, label="Month (UTC)")
    kind = django_forms.ChoiceField(required=False, choices=[("", "any"), *Kind.choices])
    page = django_forms.IntegerField(required=False, min_value=1, widget=django_forms.HiddenInput)

    def found(self) -> QuerySet[Document]:
        wanted = self.cleaned_data
        return selectors.all_documents(wanted["q"], wanted["month"], wanted["kind"])


@require_safe
@platform_page(PlatformPermission.VIEW)
def invoices(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    search = SearchForm(request.GET)
    if not search.is_valid():
        return page(request, role, "invoices", {"search": search}, status=400)
    now = timezone.now()
    left_out = list(selectors.left_out(now))
    query = request.GET.copy()
    query.pop("page", None)
    content = {
        "search": search,
        "shown": Paginator(search.found(), PAGE).get_page(search.cleaned_data["page"]),
        "sellers": selectors.sellers(),
        "left_out": left_out[:LEFT_OUT],
        "held_back": selectors.held_back(now),
        "more_left_out": len(left_out[LEFT_OUT:]),
        "query": query.urlencode(),
    }
    return page(request, role, "invoices", content)


@require_safe
@platform_page(PlatformPermission.VIEW)
def invoices_csv(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    search = SearchForm(request.GET)
    if not search.is_valid():
        return page(request, role, "invoices", {"search": search}, status=400)
    return documents_csv(list(search.found()), "documents.csv")


@require_safe
@platform_page(PlatformPermission.VIEW)
def invoice_pdf(request: HttpRequest, role: PlatformRole, wanted: UUID) -> HttpResponse:
    return document_pdf(_find(wanted))


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.VIEW)
def invoice(request: HttpRequest, role: PlatformRole, wanted: UUID) -> HttpResponse:
    """One document in full; a POST issues a credit note for it."""
    is_post = request.method == "POST"
    if is_post:
        require(role, PlatformPermission.MANAGE_PRICES)
    document = _find(wanted)
    lines, left = list(document.lines.all()), selectors.left_to_correct(document)
    form = forms.CorrectionForm(document, lines, left, request.POST if is_post else None)
    if is_post and form.is_valid():
        actor, reason = Actor.of(request.user), form.cleaned_data["reason"]
        if not refused(form, lambda: services.credit(actor, document, form.amounts(), reason)):
            return redirect("platform:invoice", wanted=wanted)
    content = {
        "document": document,
        "lines": lines,
        "notes": document.credit_notes.order_by("number"),
        "due": selectors.still_due(document) if document.kind == Kind.INVOICE else None,
        "form": form if document.kind == Kind.INVOICE and any(left.values()) else None,
        "page": "invoices",
    }
    return page(request, role, "invoice", content, 400 if is_post else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.MANAGE_PRICES)
def new_seller(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return _seller(request, role, Seller())


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.MANAGE_PRICES)
def seller(request: HttpRequest, role: PlatformRole, seller_id: int) -> HttpResponse:
    found = selectors.sellers().filter(pk=seller_id).first()
    if found is None:
        raise Http404
    return _seller(request, role, found)


def _seller(request: HttpRequest, role: PlatformRole, found: Seller) -> HttpResponse:
    is_post, name = request.method == "POST", found.name
    form = forms.SellerForm(request.POST if is_post else None, instance=found)
    if is_post and form.is_valid():
        row, wanted = Seller.objects.filter(pk=found.pk).first() or Seller(), form.cleaned_data
        actor = Actor.of(request.user)
        if not refused(form, lambda: parties.save_seller(actor, row, **wanted)):
            return redirect("platform:invoices")
    # The form writes what is typed into the row at once, refused or not.
    content = {"form": form, "name": name, "page": "invoices"}
    return page(request, role, "seller", content, 400 if is_post else 200)


def _find(document_id: UUID) -> Document:
    document = selectors.any_document(document_id)
    if document is None:
        raise Http404
    return document
