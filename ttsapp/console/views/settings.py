"""What a tenant decides for itself, and what the installation has decided for it."""

from __future__ import annotations

from dataclasses import asdict

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from billing.upkeep.models import FEWEST_DAYS, MOST_DAYS
from ttsapp.audit.services import Actor
from ttsapp.console.access import member_page
from ttsapp.console.shell import page
from ttsapp.limits.admission import with_defaults
from ttsapp.limits.fields import NAMES
from ttsapp.tenants.models import MOST_AUDIO_HOURS, MOST_TEXT_DAYS, Membership, Permission
from ttsapp.tenants.names import check_line
from ttsapp.tenants.settings import TenantSettings, change_settings, settings_of


class SettingsForm(forms.Form):
    name = forms.CharField(max_length=100, validators=[check_line])
    usage_days = forms.IntegerField(
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

    @property
    def wanted(self) -> TenantSettings:
        given = self.cleaned_data
        return TenantSettings(
            name=given["name"],
            usage_days=given["usage_days"],
            text_days=given["text_days"] or 0,
            audio_hours=given["audio_hours"] or 0,
            reviews_voices=given["reviews_voices"],
        )


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_SETTINGS)
def settings(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    # Nought is nothing to be kept: its field is empty.
    initial = {name: value or None for name, value in settings_of(tenant).items()}
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        change_settings(Actor.of(request.user), tenant, form.wanted)
        return redirect("console:settings", slug=tenant.slug)
    own, in_force = asdict(tenant.limits), asdict(with_defaults(tenant.limits))
    limits = [(name.replace("_", " "), in_force[name], own[name] is None) for name in NAMES]
    content = {"form": form, "limits": limits}
    return page(request, membership, "settings", content, 400 if form.errors else 200)
