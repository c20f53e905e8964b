"""The ranges of days that pages ask for in their address."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.utils import timezone

from billing.fields import DayField
from billing.prices.uses import midnight

MOST_DAYS = 366


class DatesForm(forms.Form):
    """Two UTC dates, both in the range; where one is missing its bound is open."""

    # What a page's address keeps, in order.
    FILTERS: ClassVar[tuple[str, ...]] = ("since", "until")

    since = DayField(required=False, label="From")
    until = DayField(required=False, label="To")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("until", "Must not be before From.")
        return cleaned

    def given(self) -> dict[str, str]:
        """The filters as they were typed."""
        return {name: self.data[name] for name in self.FILTERS if self.data.get(name)}

    def query(self, **more: str) -> str:
        """Of an address with the same filters."""
        return urlencode({**self.given(), **more})

    def start(self) -> datetime | None:
        first: date | None = self.cleaned_data.get("since")
        return midnight(first) if first else None

    def end(self) -> datetime | None:
        """The first moment that is no longer in the range."""
        last: date | None = self.cleaned_data.get("until")
        return midnight(last + timedelta(days=1)) if last else None


class PeriodForm(DatesForm):
    """A bounded range: the month so far unless told otherwise, a year at most."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not self.errors and self.whole_end() - self.whole_start() > timedelta(days=MOST_DAYS):
            self.add_error("since", f"At most {MOST_DAYS} days at once.")
        return cleaned

    def whole_start(self) -> datetime:
        return self.start() or (self.whole_end() - timedelta(days=1)).replace(day=1)

    def whole_end(self) -> datetime:
        return self.end() or today() + timedelta(days=1)


def today() -> datetime:
    """Midnight, UTC."""
    return timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)


def month() -> datetime:
    """The beginning of this one, UTC."""
    return today().replace(day=1)
