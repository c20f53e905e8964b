"""What every list has above it: saved views of its filters, and all that matches as CSV.

A list is one line of OF_TENANT or OF_PLATFORM: its page, and the names in its address that filter
it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from ttsapp.console.models import SavedView
from ttsapp.console.periods import DatesForm
from ttsapp.tenants.models import Tenant

_DAYS = DatesForm.FILTERS
OF_TENANT: dict[str, tuple[str, ...]] = {
    "requests": ("ended", "key", "code", *_DAYS),
    "audit": ("action", "actor", *_DAYS),
    "voices": ("q", "owner"),
    "pronunciations": ("q",),
    "usage": _DAYS,
    "keys": ("q", "state"),
    "members": ("q", "role"),
    "consents": ("q", "state"),
    "alerts": ("rule", "to"),
    "webhooks": (),
}
OF_PLATFORM: dict[str, tuple[str, ...]] = {
    "tenants": ("q", "state"),
    "invoices": ("q", "month", "kind"),
    "audit": OF_TENANT["audit"],
    "costs": (*_DAYS, "target"),
    "alerts": OF_TENANT["alerts"],
    **dict.fromkeys(("settings", "price_books", "webhooks", "metering"), ()),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """`is_current`: the address has exactly its filters."""

    view: SavedView
    is_current: bool
    is_own: bool


@dataclass(frozen=True, slots=True)
class Tools:
    """`query`: the filters in the address now. `has_filters`: there are any to save."""

    page: str
    query: str
    csv: str
    has_filters: bool
    views: tuple[Shown, ...]
    save: str
    root: str


def filters_of(tenant: Tenant | None, page: str) -> tuple[str, ...] | None:
    """None where that page is no list."""
    return (OF_PLATFORM if tenant is None else OF_TENANT).get(page)


def kept(filters: Sequence[str], query: str) -> str:
    """A query with a list's own filters alone, in their order: equal for equal views."""
    given = dict(parse_qsl(query))
    return urlencode({name: given[name] for name in filters if given.get(name)})


def tools(
    request: HttpRequest, tenant: Tenant | None, page: str, where: Sequence[str]
) -> Tools | None:
    """`where`: the routes' namespace, and what they take."""
    filters = filters_of(tenant, page)
    if filters is None:
        return None
    routes, *arguments = where
    query = kept(filters, request.GET.urlencode())
    mine = request.user.pk
    views = tuple(
        Shown(view, view.query == query, view.user_id == mine)
        for view in (views_of(tenant, page, mine) if filters else ())
    )
    save = reverse(f"{routes}:save_view", args=(*arguments, page))
    root = save.rsplit("/of/", 1)[0]
    return Tools(page, query, _csv(routes, arguments, page), bool(filters), views, save, root)


def views_of(tenant: Tenant | None, page: str, user_id: int | None) -> QuerySet[SavedView]:
    """A person's own, and those that others share."""
    found = SavedView.objects.filter(tenant=tenant, page=page)
    return found.filter(Q(user_id=user_id) | Q(is_shared=True)).select_related("user")


def _csv(routes: str, arguments: Sequence[str], page: str) -> str:
    try:
        return reverse(f"{routes}:{page}_csv", args=tuple(arguments))
    except NoReverseMatch:
        return ""
