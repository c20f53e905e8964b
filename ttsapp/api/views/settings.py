"""What a tenant decides for itself: its name, what is kept for how long, who approves clones."""

from __future__ import annotations

from typing import cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from billing.upkeep.models import FEWEST_DAYS, MOST_DAYS
from ttsapp.api.base import TenantView
from ttsapp.api.fields import Strict
from ttsapp.tenants import selectors
from ttsapp.tenants.models import MOST_AUDIO_HOURS, MOST_TEXT_DAYS, Permission
from ttsapp.tenants.names import check_line
from ttsapp.tenants.settings import TenantSettings, change_settings, settings_of


class SettingsFields(Strict):
    name = serializers.CharField(max_length=100, validators=[check_line])
    usage_days = serializers.IntegerField(
        min_value=FEWEST_DAYS,
        max_value=MOST_DAYS,
        allow_null=True,
        help_text="That usage events are kept; null: for ever. Sums stay.",
    )
    text_days = serializers.IntegerField(
        min_value=0,
        max_value=MOST_TEXT_DAYS,
        help_text="That requests' texts are kept; 0: not at all. Fewer remove older ones at once.",
    )
    audio_hours = serializers.IntegerField(
        min_value=0,
        max_value=MOST_AUDIO_HOURS,
        help_text="That requests' audio is kept from now on; 0: not at all.",
    )
    reviews_voices = serializers.BooleanField(
        help_text="Clones of who may not approve voices wait for an owner or admin."
    )


@extend_schema(tags=["settings"])
class SettingsView(TenantView):
    """One document; there is nothing to look up in it."""

    permissions = dict.fromkeys(("list", "change"), Permission.MANAGE_SETTINGS)

    @extend_schema(
        operation_id="settings_retrieve",
        summary="What you decide for yourself",
        responses=SettingsFields,
    )
    def list(self, request: Request) -> Response:
        return Response(settings_of(self.access.tenant))

    @extend_schema(
        operation_id="settings_partial_update",
        summary="Change what you decide for yourself",
        request=SettingsFields,
        responses=SettingsFields,
    )
    def change(self, request: Request) -> Response:
        tenant = self.access.tenant
        wanted = cast(TenantSettings, SettingsFields.of_body(request, partial=True))
        change_settings(self.access.actor, tenant, wanted)
        return Response(settings_of(selectors.tenant(tenant.pk)))
