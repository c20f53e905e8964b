"""The fields of a key that people fill in, the same in the console and in the admin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms

from ttsapp.keys import rules
from ttsapp.keys.rules import USUAL_SCOPES
from ttsapp.keys.services import RULES
from ttsapp.limits.forms import LimitsForm

_SCOPES: tuple[tuple[str, str], ...] = (
    ("speech", "speak"),
    ("read", "list voices, look requests up"),
    ("manage", "manage keys, words and settings by the API"),
)


class ListField(forms.CharField):
    """A list as text, with commas."""

    def __init__(self, read: Callable[[str], list[str]], **options: Any) -> None:
        super().__init__(max_length=2000, required=False, **options)
        self._read = read

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        try:
            return self._read(str(value or ""))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None

    def run_validators(self, value: Any) -> None:
        super().run_validators(", ".join(value))

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value


class KeyRulesForm(LimitsForm):
    """What a key may do and how much. Empty is without restriction."""

    scopes = forms.MultipleChoiceField(
        choices=_SCOPES, initial=USUAL_SCOPES, widget=forms.CheckboxSelectMultiple, label="May"
    )
    allowed_voices = ListField(rules.names, label="Only these voices")
    allowed_models = ListField(rules.names, label="Only these models")
    allowed_networks = ListField(rules.networks, label="Only from these networks")

    def rules(self) -> dict[str, Any]:
        """For `services`, once the form is valid."""
        return {name: self.cleaned_data[name] for name in RULES}
