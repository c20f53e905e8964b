"""Price books: their versions, and which tenants pay by which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from operator import attrgetter
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from billing.prices import forms, selectors, services
from billing.prices.books import Agreed, Book, in_force
from billing.prices.models import PriceBook
from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import platform_page, require
from ttsapp.console.platform.refusals import refused
from ttsapp.console.served_voices import unserved
from ttsapp.console.shell import platform_page as page
from ttsapp.errors import ApiError
from ttsapp.tenants.models import PlatformPermission, PlatformRole


@dataclass(frozen=True, slots=True)
class Shown:
    """A book as the page shows it; `prices` None: it has no version yet. `is_default`: tenants
    without an agreement pay by it this month; `changes_in`: the month from which that is not so."""

    row: PriceBook
    prices: Book | None
    now: int | None
    is_default: bool
    changes_in: date | None

    @property
    def default_from(self) -> date | None:
        return None if self.is_default else self.changes_in

    @property
    def may_be_default(self) -> bool:
        """What is none and will not be, and what will no longer be."""
        will_change = self.changes_in is not None
        return self.prices is not None and self.is_default == will_change


COLUMNS: exports.Columns = {
    **exports.fields("name", "slug", "currency", of="row"),
    "is_default": attrgetter("is_default"),
    "default_from": attrgetter("default_from"),
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
    if request.method == "POST":
        require(role, PlatformPermission.MANAGE_PRICES)
    shown = _shown(_find(slug), selectors.defaults())
    if request.method != "POST":
        return _show(request, role, shown, _version_form(shown), _rates(shown))
    form, rates = forms.VersionForm(request.POST), forms.RatesFormSet(request.POST)
    if form.is_valid() and rates.is_valid() and _is_meant(form, rates):
        wanted = {**form.cleaned_data, "rates": forms.rates(rates)}
        del wanted["not_served_yet"]
        actor = Actor.of(request.user)
        if not refused(form, lambda: services.add_version(actor, shown.row, **wanted)):
            return redirect("platform:price_book", slug=slug)
    return _show(request, role, shown, form, rates, 400)


@require_POST
@platform_page(PlatformPermission.MANAGE_PRICES)
def make_default(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    try:
        services.make_default(Actor.of(request.user), _find(slug))
    except ApiError as error:
        raise PermissionDenied(error.message) from None
    return redirect("platform:price_book", slug=slug)


def _is_meant(form: forms.VersionForm, rates: Any) -> bool:
    return form.check_served(unserved(rate.model for rate in forms.rates(rates)))


def _find(slug: str) -> PriceBook:
    book = selectors.books().filter(slug=slug).first()
    if book is None:
        raise Http404
    return book


def _shown(row: PriceBook, defaults: list[Agreed]) -> Shown:
    prices = selectors.book_of(row)
    now = prices.version(_today()).terms.version if prices else None
    month = _today().replace(day=1)
    is_default = in_force(defaults, month) == row.slug
    to_come = (each for each in defaults if each.from_month > month)
    changes = (each.from_month for each in to_come if (each.book == row.slug) != is_default)
    return Shown(row, prices, now, is_default, next(changes, None))


def _all_shown() -> list[Shown]:
    defaults = selectors.defaults()
    return [_shown(row, defaults) for row in selectors.books()]


def _version_form(shown: Shown) -> forms.VersionForm:
    """Beginning with the latest version's minimum: what nobody changes stays as it is."""
    last = shown.prices.versions[-1].terms.minimum_characters if shown.prices else 0
    return forms.VersionForm(initial={"minimum_characters": last})


def _rates(shown: Shown) -> Any:
    """Beginning with the latest version's."""
    last = shown.prices.versions[-1] if shown.prices else None
    return forms.RatesFormSet(initial=forms.rows(last))


@require_safe
@platform_page(PlatformPermission.VIEW)
def price_books_csv(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return exports.table(COLUMNS, _all_shown(), "price-books")


def _list(
    request: HttpRequest, role: PlatformRole, form: forms.BookForm, status: int = 200
) -> HttpResponse:
    return page(request, role, "price_books", {"books": _all_shown(), "form": form}, status)


def _show(
    request: HttpRequest,
    role: PlatformRole,
    shown: Shown,
    form: forms.VersionForm,
    rates: Any,
    status: int = 200,
) -> HttpResponse:
    last = shown.prices.versions[-1].terms.rates if shown.prices else ()
    content = {
        "shown": shown,
        "form": form,
        "rates": rates,
        "unserved": unserved(rate.model for rate in last),
        "page": "price_books",
    }
    return page(request, role, "price_book", content, status)


def _today() -> date:
    return datetime.now(UTC).date()
