from __future__ import annotations

from datetime import datetime

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminSplitDateTime
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from billing import dates
from ttsapp.audit.services import Actor
from ttsapp.keys import services
from ttsapp.keys.forms import KeyRulesForm
from ttsapp.keys.models import ApiKey
from ttsapp.typed_admin import KeptAdmin

_FACTS = (
    "name",
    "tenant",
    "hint",
    "state",
    "created_by",
    "created_at",
    "revoked_at",
    "previous_until",
    "last_used_at",
    "last_used_address",
    "last_used_agent",
)


class ApiKeyForm(KeyRulesForm, forms.ModelForm):  # type: ignore[type-arg]
    expires_at = forms.SplitDateTimeField(required=False, widget=AdminSplitDateTime)

    class Meta:
        model = ApiKey
        fields = (*services.RULES, "expires_at")

    def clean_expires_at(self) -> datetime | None:
        moment: datetime | None = self.cleaned_data["expires_at"]
        if moment is not None and not dates.may_be_named(moment.date()):
            raise forms.ValidationError(f"It must be {dates.DAYS}.")
        return moment


@admin.register(ApiKey)
class ApiKeyAdmin(KeptAdmin[ApiKey]):
    """Keys are made and rotated in the console, where they are shown once; here they can be bound,
    limited and revoked."""

    form = ApiKeyForm
    fields = (*_FACTS, "expires_at", *services.RULES)
    readonly_fields = _FACTS
    list_display = (
        "name",
        "tenant",
        "hint",
        "state",
        "created_at",
        "last_used_at",
        "last_used_address",
    )
    list_filter = ("environment", "tenant")
    search_fields = ("name", "public_id")
    actions = ("revoke",)

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """A suspended account's are only looked at, and revoked."""
        is_suspended = obj is not None and obj.tenant.suspended_at is not None
        return not is_suspended and super().has_change_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: ApiKey, form: ModelForm[ApiKey], change: bool
    ) -> None:
        rules = {name: form.cleaned_data[name] for name in (*services.RULES, "expires_at")}
        services.change_key(Actor.of(request.user), obj, **rules)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("keys.change_apikey")

    @admin.action(
        description="Revoke: the key stops working within a second", permissions=["revoke"]
    )
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        actor = Actor.of(request.user)
        done = sum(services.revoke_key(actor, key) for key in keys.select_related("tenant"))
        self.message_user(request, f"{done} revoked")
