"""The columns that whoever can be limited has."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models

from ttsapp.limits.rules import Limits


def _field(help_text: str) -> models.PositiveBigIntegerField[Any, Any]:
    return models.PositiveBigIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text=help_text
    )


class LimitFields(models.Model):
    """Empty is no limit of its own."""

    requests_per_minute = _field("Requests to speak that may begin in any minute.")
    characters_per_minute = _field("Characters of text in any minute.")
    concurrent_streams = _field("Speech made at the same time.")
    soft_monthly_characters = _field("Charged characters a calendar month (UTC): only warns.")
    hard_monthly_characters = _field("Charged characters a calendar month (UTC): then 429.")

    class Meta:
        abstract = True

    @property
    def limits(self) -> Limits:
        return Limits(**{name: getattr(self, name) for name in NAMES})

    def clean(self) -> None:
        super().clean()
        soft, hard = self.soft_monthly_characters, self.hard_monthly_characters
        if soft is not None and hard is not None and soft > hard:
            message = "The soft budget warns before the hard one ends: choose a smaller number."
            raise ValidationError({"soft_monthly_characters": message})


NAMES: tuple[str, ...] = tuple(Limits.__dataclass_fields__)
