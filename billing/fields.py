"""Form fields for money, months and days."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

from django import forms

from billing import dates
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


class _DateField(forms.DateField):
    """In the browser's own calendar, which sends one form whatever it shows. `bounds`: in words."""

    kind: ClassVar[str]
    form: ClassVar[str]
    bounds: ClassVar[str]

    def __init__(self, **kwargs: Any) -> None:
        ends = {"min": f"{dates.FIRST_DAY:{self.form}}", "max": f"{dates.LAST_DAY:{self.form}}"}
        widget = forms.DateInput(attrs={"type": self.kind, **ends}, format=self.form)
        super().__init__(input_formats=[self.form], widget=widget, **kwargs)

    def validate(self, value: date | None) -> None:
        super().validate(value)
        if value is not None and not dates.may_be_named(value):
            raise forms.ValidationError(f"{self.label} must be {self.bounds}.")


class MonthField(_DateField):
    """2026-05, cleaned to that month's first day."""

    kind, form, bounds = "month", "%Y-%m", dates.MONTHS

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.error_messages["invalid"] = "A month such as 2026-05."


class DayField(_DateField):
    """2026-05-31."""

    kind, form, bounds = "date", "%Y-%m-%d", dates.DAYS
