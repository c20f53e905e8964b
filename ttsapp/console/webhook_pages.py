"""The webhooks of a place: made, tried, switched, and what was sent to each."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from ttsapp.alerts import selectors, sending, webhooks
from ttsapp.alerts.models import Webhook
from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.places import Place
from ttsapp.errors import ApiError

# In addresses, and with label, look and, where it cannot be taken back, a warning on the page.
ACTIONS = (
    ("test", "Send a test", "primary", ""),
    ("on", "Switch on", "", ""),
    ("off", "Switch off", "", ""),
    ("rotate", "New secret", "", "From the next delivery on only the new secret fits."),
    ("remove", "Remove", "", "Nothing is sent to it any more, and its deliveries are forgotten."),
)
COLUMNS = exports.fields("url", "is_active", "created_at")
DELIVERY_COLUMNS = exports.fields(
    *("id", "created_at", "event", "state", "attempts", "status", "problem", "next_at", "body")
)
MOST_DELIVERIES = 10_000


class WebhookForm(forms.Form):
    url = forms.CharField(max_length=500, label="Address (https)")

    def clean_url(self) -> str:
        url = str(self.cleaned_data["url"])
        try:
            sending.check_public(url)
        except ApiError as error:
            raise forms.ValidationError(error.message) from None
        return url


def index(request: HttpRequest, place: Place) -> HttpResponse:
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = webhooks.create(Actor.of(request.user), place.tenant, form.cleaned_data["url"])
        except ApiError as error:
            form.add_error("url", error.message)
        else:
            return redirect(place.url("webhook", made.pk))
    content = {"form": form, "webhooks": selectors.webhooks(place.tenant_id)}
    return place.render("webhooks", content, 400 if form.errors else 200)


def index_csv(request: HttpRequest, place: Place) -> HttpResponse:
    return exports.table(COLUMNS, selectors.webhooks(place.tenant_id), "webhooks")


def detail(request: HttpRequest, place: Place, webhook_id: int) -> HttpResponse:
    found = _find(place, webhook_id)
    content = {
        "webhook": found,
        "secret": webhooks.secret_of(found),
        "deliveries": selectors.deliveries(found),
        "actions": [
            (place.url("webhook_act", webhook_id, action), *shown)
            for action, *shown in ACTIONS
            if action != ("on" if found.is_active else "off")
        ],
        "page": "webhooks",
    }
    return place.render("webhook", content, 200)


def deliveries_csv(request: HttpRequest, place: Place, webhook_id: int) -> HttpResponse:
    """All that are kept."""
    found = selectors.deliveries(_find(place, webhook_id), MOST_DELIVERIES)
    return exports.table(DELIVERY_COLUMNS, found, f"webhook-{webhook_id}")


def act(request: HttpRequest, place: Place, webhook_id: int, action: str) -> HttpResponse:
    found, actor = _find(place, webhook_id), Actor.of(request.user)
    if action not in {name for name, *_ in ACTIONS}:
        raise Http404
    if action == "test":
        webhooks.test(found)
    elif action == "rotate":
        webhooks.rotate(actor, found)
    elif action == "remove":
        webhooks.remove(actor, found)
        return redirect(place.url("webhooks"))
    else:
        webhooks.switch(actor, found, is_active=action == "on")
    return redirect(place.url("webhook", webhook_id))


def resend(request: HttpRequest, place: Place, webhook_id: int, delivery_id: UUID) -> HttpResponse:
    found = _find(place, webhook_id).deliveries.filter(pk=delivery_id).first()
    if found is None:
        raise Http404
    webhooks.resend(found)
    return redirect(place.url("webhook", webhook_id))


def _find(place: Place, webhook_id: int) -> Webhook:
    found = selectors.webhooks(place.tenant_id).filter(pk=webhook_id).first()
    if found is None:
        raise Http404
    return found
