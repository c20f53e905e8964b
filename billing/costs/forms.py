"""What people fill in about costs."""

from __future__ import annotations

from typing import Any

from django import forms

from billing.costs.models import EngineClass, EngineHeartbeat
from billing.fields import DayField, MoneyField


class _ClassField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def __init__(self) -> None:
        super().__init__(EngineClass.objects.all(), to_field_name="slug", label="Engine class")


class ClassForm(forms.Form):
    name = forms.CharField(max_length=100, label="Name of the new class")


class NameForm(forms.Form):
    engine_class = _ClassField()
    name = forms.CharField(max_length=100, label="Its new name")


class PriceForm(forms.Form):
    engine_class = _ClassField()
    valid_from = DayField(label="From (UTC)")
    per_hour = MoneyField(label="Price of an hour")


class EngineForm(forms.Form):
    engine = forms.ModelChoiceField(EngineHeartbeat.objects.all(), label="Engine")
    engine_class = _ClassField()


class CapacityForm(forms.Form):
    """What `bench capacity` prints: characters a second of one engine."""

    engine_class = _ClassField()
    characters_per_second = forms.DecimalField(
        min_value=0, max_digits=12, decimal_places=3, label="Characters a second"
    )
    note = forms.CharField(max_length=200, required=False, label="Note")

    def clean_characters_per_second(self) -> Any:
        speed = self.cleaned_data["characters_per_second"]
        if not speed:
            raise forms.ValidationError("More than 0: a run that served no rate says nothing.")
        return speed


class FixedCostForm(forms.Form):
    name = forms.CharField(max_length=100, label="What")
    per_month = MoneyField(label="A month")
    valid_from = DayField(label="From (UTC)")
    valid_until = DayField(required=False, label="Until, not included")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("valid_from"), cleaned.get("valid_until")
        if since and until and until <= since:
            self.add_error("valid_until", "Must be after the day it begins.")
        return cleaned


class ReferenceForm(forms.Form):
    name = forms.CharField(max_length=100, label="Whose price")
    per_million = MoneyField(label="Per million characters")
    source = forms.CharField(max_length=200, required=False, label="Where and when it was read")
