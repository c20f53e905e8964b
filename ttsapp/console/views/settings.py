"""What a tenant decides for itself, and what the installation has decided for it."""

from __future__ import annotations

from dataclasses import asdict

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from billing.models import Retention
from billing.upkeep.models import FEWEST_DAYS, MOST_DAYS
from billing.upkeep.retention import keep_for
from ttsapp.audit.services import Actor
from ttsapp.console.access import member_page
from ttsapp.console.shell import page
from ttsapp.limits.admission import with_defaults
from ttsapp.limits.fields import NAMES
from ttsapp.speech.texts import keep_texts
from ttsapp.tenants.models import MOST_AUDIO_HOURS, MOST_TEXT_DAYS, Membership, Permission, Tenant
from ttsapp.tenants.services import keep_audio, rename_tenant, review_voices


class SettingsForm(forms.Form):
    name = forms.CharField(max_length=100)
    days = forms.IntegerField(
        min_value=FEWEST_DAYS,
        max_value=MOST_DAYS,
        required=False,
        label="Days that usage events are kept (empty: for ever)",
    )
    text_days = forms.IntegerField(
        min_value=0,
        max_value=MOST_TEXT_DAYS,
        required=False,
        label="Days that requests' texts are kept (empty: not at all)",
    )
    reviews_voices = forms.BooleanField(
        required=False, label="Clones of who may not approve voices wait for an owner or admin"
    )
    audio_hours = forms.IntegerField(
        min_value=0,
        max_value=MOST_AUDIO_HOURS,
        required=False,
        label="Hours that requests' audio is kept (empty: not at all)",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_SETTINGS)
def settings(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    days = _days(tenant)
    initial = {"name": tenant.name, "days": days, "audio_hours": tenant.audio_hours or None}
    initial["reviews_voices"] = tenant.reviews_voices
    initial["text_days"] = tenant.text_days or None
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        actor, wanted = Actor.of(request.user), form.cleaned_data
        with transaction.atomic():
            rename_tenant(actor, tenant, wanted["name"])
            if wanted["days"] != days:
                keep_for(actor, tenant, wanted["days"])
            keep_audio(actor, tenant, wanted["audio_hours"] or 0)
            review_voices(actor, tenant, wanted["reviews_voices"])
            keep_texts(actor, tenant, wanted["text_days"] or 0)
        return redirect("console:settings", slug=tenant.slug)
    own, in_force = asdict(tenant.limits), asdict(with_defaults(tenant.limits))
    limits = [(name.replace("_", " "), in_force[name], own[name] is None) for name in NAMES]
    content = {"form": form, "limits": limits}
    return page(request, membership, "settings", content, 400 if form.errors else 200)


def _days(tenant: Tenant) -> int | None:
    found = Retention.objects.filter(tenant=tenant).first()
    return found.days if found else None
