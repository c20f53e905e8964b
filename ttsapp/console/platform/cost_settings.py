"""What machines and overheads cost, how fast an engine is, and what others ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms as django_forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from billing.costs import forms, selectors, services
from billing.costs.models import CapacityRun, FixedCost, HourlyPrice, ReferencePrice
from ttsapp.audit.services import Actor
from ttsapp.console.access import platform_page
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole

Fields = dict[str, Any]
# Each start of an engine without a name of its own is another one: the latest are of interest.
ENGINES = 50
REMOVABLE: dict[str, type[HourlyPrice | FixedCost | ReferencePrice | CapacityRun]] = {
    "price": HourlyPrice,
    "fixed": FixedCost,
    "reference": ReferencePrice,
    "capacity": CapacityRun,
}


def _add_class(actor: Actor, wanted: Fields) -> None:
    services.add_class(actor, wanted["name"])


def _rename(actor: Actor, wanted: Fields) -> None:
    services.rename_class(actor, wanted["engine_class"], wanted["name"])


def _price(actor: Actor, wanted: Fields) -> None:
    services.price_hours(actor, wanted["engine_class"], wanted["valid_from"], wanted["per_hour"])


def _move(actor: Actor, wanted: Fields) -> None:
    services.move_engine(actor, wanted["engine"].engine_id, wanted["engine_class"])


def _capacity(actor: Actor, wanted: Fields) -> None:
    speed = wanted["characters_per_second"]
    services.note_capacity(actor, wanted["engine_class"], speed, timezone.now(), wanted["note"])


def _fixed(actor: Actor, wanted: Fields) -> None:
    services.add_fixed_cost(
        actor,
        name=wanted["name"],
        per_month_micros=wanted["per_month"],
        valid_from=wanted["valid_from"],
        valid_until=wanted["valid_until"],
    )


def _reference(actor: Actor, wanted: Fields) -> None:
    services.set_reference(actor, wanted["name"], wanted["per_million"], wanted["source"])


ADDED: dict[str, tuple[type[django_forms.Form], Callable[[Actor, Fields], None]]] = {
    "class": (forms.ClassForm, _add_class),
    "name": (forms.NameForm, _rename),
    "price": (forms.PriceForm, _price),
    "engine": (forms.EngineForm, _move),
    "capacity": (forms.CapacityForm, _capacity),
    "fixed": (forms.FixedCostForm, _fixed),
    "reference": (forms.ReferenceForm, _reference),
}


@require_safe
@platform_page(PlatformPermission.VIEW)
def cost_settings(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return _show(request, role, {})


@require_POST
@platform_page(PlatformPermission.MANAGE_PRICES)
def add_cost(request: HttpRequest, role: PlatformRole, what: str) -> HttpResponse:
    if what not in ADDED:
        raise Http404
    make, act = ADDED[what]
    form = make(request.POST, auto_id=f"{what}-%s")
    if not form.is_valid():
        return _show(request, role, {what: form}, 400)
    act(Actor.of(request.user), form.cleaned_data)
    return redirect("platform:cost_settings")


@require_POST
@platform_page(PlatformPermission.MANAGE_PRICES)
def remove_cost(request: HttpRequest, role: PlatformRole, what: str, row_id: int) -> HttpResponse:
    row = REMOVABLE[what].objects.filter(pk=row_id).first() if what in REMOVABLE else None
    if row is None:
        raise Http404
    services.remove(Actor.of(request.user), row)
    return redirect("platform:cost_settings")


def _show(
    request: HttpRequest,
    role: PlatformRole,
    filled: dict[str, django_forms.Form],
    status: int = 200,
) -> HttpResponse:
    empty = {what: make(auto_id=f"{what}-%s") for what, (make, _) in ADDED.items()}
    content = {
        "forms": empty | filled,
        "currency": settings.CURRENCY,
        "classes": selectors.classes(),
        "engines": selectors.engines()[:ENGINES],
        "runs": selectors.capacity_runs(),
        "fixed": selectors.fixed_costs(),
        "references": selectors.references(),
        "page": "costs",
    }
    return page(request, role, "cost_settings", content, status)
