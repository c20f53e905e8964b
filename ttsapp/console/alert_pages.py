"""The alerts of a place: what they say, who is mailed, and quiet for a while."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.validators import validate_email
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from ttsapp.alerts import selectors, services
from ttsapp.alerts.models import Alert
from ttsapp.alerts.rules import BY_CODE
from ttsapp.audit.services import Actor, scope_of
from ttsapp.console import exports
from ttsapp.console.filters import ChangeFilters
from ttsapp.console.places import Place

HOURS = ((0, "not at all"), (1, "an hour"), (8, "8 hours"), (24, "a day"), (168, "a week"))
MOST_ADDRESSES, MOST_SHOWN, MOST_CHANGES = 20, 50, 10_000
COLUMNS: exports.Columns = {
    "at": attrgetter("at"),
    "alert": attrgetter("alert.rule"),
    **exports.fields("before", "after", "text", "was_told"),
}


class MuteForm(forms.Form):
    hours = forms.TypedChoiceField(coerce=int, choices=HOURS, initial=8, label="For")
    reason = forms.CharField(max_length=300, required=False)


class AddressesForm(forms.Form):
    addresses = forms.CharField(
        max_length=2000, required=False, label="Mail addresses, with commas between"
    )

    def clean_addresses(self) -> list[str]:
        words = (word.strip() for word in self.cleaned_data["addresses"].split(","))
        found = list(dict.fromkeys(filter(None, words)))
        if len(found) > MOST_ADDRESSES:
            raise forms.ValidationError(f"At most {MOST_ADDRESSES} addresses.")
        for each in found:
            validate_email(each)
        return found


class RuleForm(forms.Form):
    """Empty is the rule's own."""

    warning = forms.FloatField(required=False, label="Warn from")
    alert = forms.FloatField(required=False, label="Alert from")
    is_enabled = forms.BooleanField(required=False, label="In use")


def alerts(request: HttpRequest, place: Place) -> HttpResponse:
    """Everybody may look; whom to mail is set by who looks after the place."""
    if request.method == "POST":
        if not place.is_in_charge:
            raise PermissionDenied
        return set_addresses(request, place)
    addresses = AddressesForm(initial={"addresses": ", ".join(_addresses(place))})
    return show(request, place, addresses)


def changes_csv(request: HttpRequest, place: Place) -> HttpResponse:
    filters = ChangeFilters(request.GET, place.tenant_id)
    return exports.table(COLUMNS, filters.found(MOST_CHANGES), "alerts")


def set_addresses(request: HttpRequest, place: Place) -> HttpResponse:
    form = AddressesForm(request.POST)
    if not form.is_valid():
        return show(request, place, form, status=400)
    services.set_addresses(Actor.of(request.user), place.tenant, form.cleaned_data["addresses"])
    return redirect(place.url("alerts"))


def mute(request: HttpRequest, place: Place, code: str) -> HttpResponse:
    found = Alert.objects.filter(rule=code, scope=scope_of(place.tenant_id)).first()
    form = MuteForm(request.POST)
    if found is None or not form.is_valid():
        raise Http404
    wanted = form.cleaned_data
    services.mute(Actor.of(request.user), found, wanted["hours"], wanted["reason"])
    return redirect(place.url("alerts"))


def show(
    request: HttpRequest, place: Place, form: AddressesForm, status: int = 200
) -> HttpResponse:
    standings = selectors.standings(place.tenant_id)
    search = ChangeFilters(request.GET, place.tenant_id)
    shown = search.found(MOST_SHOWN)
    content: dict[str, Any] = {
        "standings": standings,
        "asked_at": max((each.asked_at for each in standings if each.asked_at), default=None),
        "search": search,
        "changes": [(BY_CODE[each.alert.rule].title, each) for each in shown],
        "form": form,
        "mute": MuteForm(),
        "mails": bool(settings.MAIL_FROM),
    }
    if place.tenant is None:
        content["tenants"] = selectors.tenants_in_trouble()
    return place.render("alerts", content, 400 if search.errors else status)


def _addresses(place: Place) -> list[str]:
    return list(selectors.addresses(scope_of(place.tenant_id)))
