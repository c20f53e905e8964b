"""What people fill in about prices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django import forms

from billing.fields import CurrencyField, DayField, MoneyField, MonthField
from billing.prices.books import Version
from billing.prices.models import PriceBook
from billing.prices.rates import Rate, Tier, VoiceKind

# Empty rows for new tiers under those that are there.
MORE_ROWS = 3
KINDS = [("", "any"), *((kind.value, kind.value) for kind in VoiceKind)]


class BookForm(forms.Form):
    name = forms.CharField(max_length=100, label="Name of the new price book")
    slug = forms.SlugField(max_length=50, label="Its name in addresses")
    currency = CurrencyField(label="Currency")
    is_default = forms.BooleanField(required=False, label="For tenants without an agreement")


class VersionForm(forms.Form):
    valid_from = DayField(label="From (UTC)")
    minimum_characters = forms.IntegerField(
        min_value=0, max_value=100_000, initial=0, label="Minimum characters a request"
    )
    note = forms.CharField(max_length=200, required=False, label="Note")
    is_earlier = forms.BooleanField(
        required=False, label="In place of versions that were to begin later"
    )
    not_served_yet = forms.BooleanField(
        required=False, label="Also for models that no engine serves yet"
    )

    def check_served(self, unserved: Sequence[str]) -> bool:
        """Whether rates for these models, which nobody serves, are meant; else the form says so."""
        if unserved and not self.cleaned_data["not_served_yet"]:
            message = f"No such model is served: {', '.join(unserved)}. Mend it, or tick this."
            self.add_error("not_served_yet", message)
        return not self.errors


class RateForm(forms.Form):
    """One tier; a row that says nothing is none."""

    model = forms.CharField(max_length=100, required=False, label="Model")
    voice_kind = forms.ChoiceField(choices=KINDS, required=False, label="Voices")
    above = forms.IntegerField(
        min_value=0, max_value=10**15, required=False, label="Beyond characters a month"
    )
    per_million = MoneyField(required=False, label="Per million")

    def clean(self) -> dict[str, Any]:
        row = self.cleaned_data
        says_something = any(row.get(name) for name in ("model", "voice_kind", "above"))
        if says_something and row.get("per_million") is None and "per_million" not in self.errors:
            self.add_error("per_million", "A price, or empty the whole row to leave it out.")
        return row


RatesFormSet = forms.formset_factory(RateForm, extra=MORE_ROWS, max_num=100)


class AgreementForm(forms.Form):
    book = forms.ModelChoiceField(PriceBook.objects.all(), to_field_name="slug", label="Price book")
    from_month = MonthField(label="From month (UTC)")


def rates(formset: Any) -> list[Rate]:
    """What a valid formset says."""
    tiers: defaultdict[tuple[str, str], list[Tier]] = defaultdict(list)
    for row in formset.cleaned_data:
        if row.get("per_million") is not None:
            key = row["model"].strip(), row["voice_kind"]
            tiers[key].append(Tier(row["above"] or 0, row["per_million"]))
    return [
        Rate(*key, tuple(sorted(found, key=lambda tier: tier.above)))
        for key, found in sorted(tiers.items())
    ]


def rows(version: Version | None) -> list[dict[str, Any]]:
    """The same backwards, for a form to begin with."""
    if version is None:
        return []
    return [
        {
            "model": rate.model,
            "voice_kind": rate.voice_kind,
            "above": tier.above,
            "per_million": tier.per_million,
        }
        for rate in version.terms.rates
        for tier in rate.tiers
    ]
