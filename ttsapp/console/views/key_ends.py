"""The end of keys: of one that is revoked, of all that nobody uses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from billing import selectors as billing
from ttsapp.audit.services import Actor
from ttsapp.console.access import member_page
from ttsapp.console.shell import page
from ttsapp.console.views.keys import key_of
from ttsapp.keys import selectors, services
from ttsapp.tenants.models import Membership, Permission

UNUSED_DAYS = 90


class UnusedForm(forms.Form):
    days = forms.IntegerField(min_value=1, max_value=3650)

    def idle(self) -> timedelta:
        return timedelta(days=self.cleaned_data["days"])


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_KEYS)
def revoke_key(request: HttpRequest, membership: Membership, public_id: str) -> HttpResponse:
    key = key_of(membership, public_id)
    if request.method != "POST":
        content = {"key": key, "running": billing.running(key.pk), "page": "keys"}
        return page(request, membership, "revoke", content)
    services.revoke_key(Actor.of(request.user), key)
    return redirect("console:keys", slug=membership.tenant.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_KEYS)
def unused_keys(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Shows which they are, and lets them expire when told to."""
    given = request.POST if request.method == "POST" else request.GET
    form = UnusedForm(given if "days" in given else {"days": UNUSED_DAYS})
    content: dict[str, Any] = {"form": form, "found": (), "page": "keys"}
    if not form.is_valid():
        return page(request, membership, "unused_keys", content, 400)
    if request.method == "POST":
        services.expire_unused(Actor.of(request.user), membership.tenant, form.idle())
        return redirect("console:keys", slug=membership.tenant.slug)
    content["found"] = selectors.unused(membership.tenant, timezone.now() - form.idle())
    return page(request, membership, "unused_keys", content)
