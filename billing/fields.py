"""Form fields for money and months."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms

from billing.money import is_currency, parse, to_decimal, to_micros


class AmountField(forms.CharField):
    """A decimal as `money.parse` takes it. A plain text field: browsers' own fields for numbers
    send nothing where they do not understand what was typed, and nobody is told why."""

    def __init__(self, *, places: int = 6, **kwargs: Any) -> None:
        widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        super().__init__(widget=widget, **kwargs)
        self._places = places

    def to_python(self, value: Any) -> Any:
        typed = super().to_python(value)
        return parse(typed, self._places) if typed else None


class MoneyField(AmountField):
    """A decimal, cleaned to micros."""

    def to_python(self, value: Any) -> Any:
        amount = super().to_python(value)
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
