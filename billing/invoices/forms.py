"""What people fill in about invoices and credit."""

from __future__ import annotations

from typing import Any

from django import forms

from billing import money
from billing.credit.models import Reason
from billing.credit.services import BY_HAND
from billing.fields import CurrencyField, MoneyField, MonthField
from billing.invoices.models import BillingDetails, Document, DocumentLine, Seller


class _Lines(forms.Textarea):
    def __init__(self) -> None:
        super().__init__(attrs={"rows": 3})


class SellerForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Seller
        fields = ("name", "prefix", "days_to_pay", "tax_number", "address", "note")
        labels = {"prefix": "Prefix of its numbers: capitals or digits, then a hyphen (ACME-)"}  # noqa: RUF012
        widgets = {"address": _Lines(), "note": _Lines()}  # noqa: RUF012


class DetailsForm(forms.ModelForm):  # type: ignore[type-arg]
    next_month = MonthField(label="Next month to invoice (UTC)")
    never_invoiced = forms.CharField(
        required=False,
        max_length=100,
        label="Never to be invoiced: what the months that are left out come to (4.80 EUR)",
    )

    class Meta:
        model = BillingDetails
        fields = ("seller", "name", "tax_number", "email", "next_month", "is_prepaid", "address")
        widgets = {"address": _Lines()}  # noqa: RUF012


class CreditForm(forms.Form):
    reason = forms.ChoiceField(choices=[(each.value, each.label) for each in BY_HAND], label="What")
    amount = MoneyField(label="Amount")
    currency = CurrencyField(label="Currency")
    note = forms.CharField(max_length=200, required=False, label="Note")

    def chosen(self) -> Reason:
        return Reason(self.cleaned_data["reason"])


class CorrectionForm(forms.Form):
    """An amount for each line of an invoice that has something left to be corrected."""

    reason = forms.CharField(max_length=300, label="Reason, which is printed")

    def __init__(
        self, invoice: Document, lines: list[DocumentLine], left: dict[int, int], *args: Any
    ) -> None:
        super().__init__(*args)
        for line in lines:
            if left[line.position]:
                most = money.text(left[line.position], invoice.currency)
                self.fields[f"line_{line.position}"] = MoneyField(
                    required=False, label=f"Line {line.position}: {line.text} (up to {most})"
                )

    def amounts(self) -> dict[int, int]:
        """Micros by position."""
        return {
            int(name.removeprefix("line_")): value
            for name, value in self.cleaned_data.items()
            if name.startswith("line_") and value
        }
