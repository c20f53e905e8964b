"""Filters in the addresses of lists that pages show whole; what cannot be used matches nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from ttsapp.alerts import selectors as alerts
from ttsapp.alerts.models import AlertChange, State
from ttsapp.alerts.rules import RULES
from ttsapp.tenants import selectors as tenants
from ttsapp.tenants.models import Membership, Role, Tenant
from ttsapp.voices import selectors as voices
from ttsapp.voices.models import Consent

ANY = ("", "any")
CONSENT_STATES = ("active", "expired", "withdrawn")


class Filters(forms.Form):
    def __init__(self, data: Mapping[str, Any]) -> None:
        """Beside a page's other forms, which may have fields of the same names."""
        super().__init__(data, auto_id="find_%s")

    @property
    def is_used(self) -> bool:
        return any(self.data.get(name) for name in self.fields)


class MemberFilters(Filters):
    q = forms.CharField(required=False, max_length=100, label="Name")
    role = forms.ChoiceField(required=False, choices=[ANY, *Role.choices])

    def found(self, tenant: Tenant) -> list[Membership]:
        if not self.is_valid():
            return []
        text, role = self.cleaned_data["q"].casefold(), self.cleaned_data["role"]
        return [
            each
            for each in tenants.members(tenant)
            if text in each.user.get_username().casefold() and role in ("", each.role)
        ]


class ConsentFilters(Filters):
    q = forms.CharField(required=False, max_length=100, label="Name or speaker")
    state = forms.ChoiceField(
        required=False, choices=[ANY, *((state, state) for state in CONSENT_STATES)]
    )

    def found(self, tenant: Tenant) -> list[Consent]:
        if not self.is_valid():
            return []
        text, state = self.cleaned_data["q"].casefold(), self.cleaned_data["state"]
        return [
            each
            for each in voices.consents(tenant).prefetch_related("voices")
            if text in f"{each.name}\n{each.person}".casefold() and state in ("", each.state)
        ]


class ChangeFilters(Filters):
    """Of alerts that changed: which, and to what."""

    rule = forms.ChoiceField(required=False, label="Alert")
    to = forms.ChoiceField(required=False, choices=[ANY, *State.choices], label="To")

    def __init__(self, data: Mapping[str, Any], tenant_id: int | None) -> None:
        super().__init__(data)
        self._tenant_id = tenant_id
        field = self.fields["rule"]
        assert isinstance(field, forms.ChoiceField)
        mine = [rule for rule in RULES if rule.of_tenants == (tenant_id is not None)]
        field.choices = [ANY, *((rule.code, rule.title) for rule in mine)]

    def found(self, count: int) -> list[AlertChange]:
        """Newest first."""
        if not self.is_valid():
            return []
        wanted = self.cleaned_data
        return list(alerts.changes(self._tenant_id, count, wanted["rule"], wanted["to"]))
