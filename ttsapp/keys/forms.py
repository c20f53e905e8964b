"""The fields of a key that people fill in, the same in the console and in the admin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms

from ttsapp.keys import rules
from ttsapp.keys.rules import USUAL_SCOPES
from ttsapp.keys.services import RULES

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


def _limit(label: str) -> forms.IntegerField:
    return forms.IntegerField(min_value=1, max_value=2**60, required=False, label=label)


class KeyRulesForm(forms.Form):
    """What a key may do and how much. Empty is without restriction."""

    scopes = forms.MultipleChoiceField(
        choices=_SCOPES, initial=USUAL_SCOPES, widget=forms.CheckboxSelectMultiple, label="May"
    )
    allowed_voices = ListField(rules.names, label="Only these voices")
    allowed_models = ListField(rules.names, label="Only these models")
    allowed_networks = ListField(rules.networks, label="Only from these networks")
    requests_per_minute = _limit("Requests a minute")
    characters_per_minute = _limit("Characters a minute")
    concurrent_streams = _limit("Streams at once")
    soft_monthly_characters = _limit("Warn at characters a month")
    hard_monthly_characters = _limit("Stop at characters a month")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        soft = cleaned.get("soft_monthly_characters")
        hard = cleaned.get("hard_monthly_characters")
        if soft is not None and hard is not None and soft > hard:
            self.add_error("soft_monthly_characters", "Warn before the stop: a smaller number.")
        return cleaned

    def rules(self) -> dict[str, Any]:
        """For `services`, once the form is valid."""
        return {name: self.cleaned_data[name] for name in RULES}
