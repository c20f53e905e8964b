"""What people fill in about costs."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone

from billing import money
from billing.costs.models import EngineClass, EngineHeartbeat
from billing.costs.selectors import price_on
from billing.fields import AmountField, DayField, MoneyField


class _ClassField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def __init__(self) -> None:
        super().__init__(EngineClass.objects.all(), to_field_name="slug", label="Engine class")


class ClassForm(forms.Form):
    name = forms.CharField(max_length=100, label="Name of the new class")


class NameForm(forms.Form):
    engine_class = _ClassField()
    name = forms.CharField(max_length=100, label="Its new name")


class PriceForm(forms.Form):
    """A price that others were reckoned by is changed by who has been told so."""

    engine_class = _ClassField()
    valid_from = DayField(label="From (UTC)")
    per_hour = MoneyField(label="Price of an hour")
    is_sure = forms.BooleanField(required=False, label="In place of what held")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        # What is no value has an error of its own already.
        if not self.errors and not cleaned["is_sure"]:
            wanted = cleaned["engine_class"], cleaned["valid_from"], cleaned["per_hour"]
            if changed := _changed(*wanted):
                self.add_error("is_sure", changed)
        return cleaned


def _changed(engine_class: EngineClass, day: date, per_hour: int) -> str:
    """What the price would change that is known already; empty where it changes nothing. The first
    of all prices holds for the days before it as well."""
    prices = list(engine_class.prices.all())
    held = price_on(prices, day)
    if held is None or held == per_hour:
        return ""
    before = money.text(held, settings.CURRENCY)
    has_begun = day <= max(timezone.now().date(), prices[0].valid_from)
    if any(price.valid_from == day for price in prices):
        past = ", and what days that have begun cost" if has_begun else ""
        return f"There is a price from {day} on, {before}: tick this to change it{past}."
    if has_begun:
        return f"An hour of {day} was {before}: tick this to change what days that have begun cost."
    return ""


class EngineForm(forms.Form):
    engine = forms.ModelChoiceField(EngineHeartbeat.objects.all(), label="Engine")
    engine_class = _ClassField()


class CapacityForm(forms.Form):
    """What `bench capacity` prints: characters a second of one engine."""

    engine_class = _ClassField()
    characters_per_second = AmountField(places=3, label="Characters a second")
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
