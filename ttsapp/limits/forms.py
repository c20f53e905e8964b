"""The limits that people fill in, the same for a tenant and for a key."""

from __future__ import annotations

from typing import Any

from django import forms


def _limit(label: str) -> forms.IntegerField:
    return forms.IntegerField(min_value=1, max_value=2**60, required=False, label=label)


class LimitsForm(forms.Form):
    """Empty is no limit of its own."""

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
