"""Price books: their versions, and which tenants pay by which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from operator import attrgetter
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from billing.prices import forms, selectors, services
from billing.prices.books import Book
from billing.prices.models import PriceBook
from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import platform_page, require
from ttsapp.console.platform.refusals import refused
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole


@dataclass(frozen=True, slots=True)
class Shown:
    """A book as the page shows it; `prices` None: it has no version yet."""

    row: PriceBook
    prices: Book | None
    now: int | None


COLUMNS: exports.Columns = {
    **exports.fields("name", "slug", "currency", "is_default", of="row"),
    "version_in_force": attrgetter("now"),
    "tenants": lambda shown: " ".join(
        agreement.tenant.slug for agreement in shown.row.agreements.all()
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.VIEW)
def price_books(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    if request.method != "POST":
        return _list(request, role, forms.BookForm())
    require(role, PlatformPermission.MANAGE_PRICES)
    form = forms.BookForm(request.POST)
    if form.is_valid() and not refused(
        form, lambda: services.create_book(Actor.of(request.user), **form.cleaned_data)
    ):
        return redirect("platform:price_book", slug=form.cleaned_data["slug"])
    return _list(request, role, form, 400)


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.VIEW)
def price_book(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    """Its versions; a POST adds one."""
    shown = _shown(_find(slug))
    if request.method != "POST":
        return _show(request, role, shown, forms.VersionForm(), _rates(shown))
    require(role, PlatformPermission.MANAGE_PRICES)
    form, rates = forms.VersionForm(request.POST), forms.RatesFormSet(request.POST)
    if form.is_valid() and rates.is_valid():
        wanted = {**form.cleaned_data, "rates": forms.rates(rates)}
        actor = Actor.of(request.user)
        if not refused(form, lambda: services.add_version(actor, shown.row, **wanted)):
            return redirect("platform:price_book", slug=slug)
    return _show(request, role, shown, form, rates, 400)


@require_POST
@platform_page(PlatformPermission.MANAGE_PRICES)
def make_default(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    services.make_default(Actor.of(request.user), _find(slug))
    return redirect("platform:price_book", slug=slug)


def _find(slug: str) -> PriceBook:
    book = selectors.books().filter(slug=slug).first()
    if book is None:
        raise Http404
    return book


def _shown(row: PriceBook) -> Shown:
    prices = selectors.book_of(row)
    return Shown(row, prices, prices.version(_today()).terms.version if prices else None)


def _rates(shown: Shown) -> Any:
    """Beginning with the latest version's."""
    last = shown.prices.versions[-1] if shown.prices else None
    return forms.RatesFormSet(initial=forms.rows(last))


@require_safe
@platform_page(PlatformPermission.VIEW)
def price_books_csv(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return exports.table(COLUMNS, map(_shown, selectors.books()), "price-books")


def _list(
    request: HttpRequest, role: PlatformRole, form: forms.BookForm, status: int = 200
) -> HttpResponse:
    shown = [_shown(row) for row in selectors.books()]
    return page(request, role, "price_books", {"books": shown, "form": form}, status)


def _show(
    request: HttpRequest,
    role: PlatformRole,
    shown: Shown,
    form: forms.VersionForm,
    rates: Any,
    status: int = 200,
) -> HttpResponse:
    content = {"shown": shown, "form": form, "rates": rates, "page": "price_books"}
    return page(request, role, "price_book", content, status)


def _today() -> date:
    return datetime.now(UTC).date()
