"""Form fields for money and months."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

from django import forms

from billing.money import is_currency, to_decimal, to_micros

MOST = Decimal(10**9)


class MoneyField(forms.DecimalField):
    """A decimal, cleaned to micros."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=MOST, decimal_places=6, **kwargs)

    def clean(self, value: Any) -> Any:
        amount = super().clean(value)
        return None if amount is None else to_micros(amount)

    def prepare_value(self, value: Any) -> Any:
        """Micros, when a form shows what is there."""
        return f"{to_decimal(value).normalize():f}" if isinstance(value, int) else value


class CurrencyField(forms.CharField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_length=3, max_length=3, validators=[is_currency], **kwargs)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).upper()


class MonthField(forms.DateField):
    """2026-05, cleaned to that month's first day."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateInput(attrs={"type": "month"}, format="%Y-%m")
        super().__init__(input_formats=["%Y-%m"], widget=widget, **kwargs)
        self.error_messages["invalid"] = "A month such as 2026-05."

    def to_python(self, value: Any) -> date | None:
        return super().to_python(value)


class DayField(forms.DateField):
    """2026-05-31."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
        super().__init__(input_formats=["%Y-%m-%d"], widget=widget, **kwargs)
