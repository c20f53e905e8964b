"""Parameters of the calls that read."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from django.http import QueryDict

from ttsapp.dialects.elevenlabs.request import check_query
from ttsapp.errors import invalid

# The end of the year 9998 in milliseconds: what comes after a day or a month is a time as well.
_LATEST_MS = 253_370_764_799_000


class Query:
    """Known parameters alone; each getter raises ApiError 400 naming its parameter."""

    def __init__(self, given: QueryDict, known: tuple[str, ...]) -> None:
        check_query({name: given.get(name) or "" for name in given}, known)
        self._given = given

    def text(self, name: str, usual: str = "") -> str:
        return self._given.get(name) or usual

    def texts(self, name: str) -> list[str]:
        """Given several times, or once with commas."""
        return [one for text in self._given.getlist(name) for one in text.split(",") if one]

    def flag(self, name: str, *, usual: bool = False) -> bool:
        value = self.choice(name, ("true", "false"), str(usual).lower())
        return value == "true"

    def choice(self, name: str, choices: tuple[str, ...], usual: str) -> str:
        value = self.text(name, usual).lower()
        if value not in choices:
            raise invalid(f"{name} is not offered: choose one of {', '.join(choices)}.", name)
        return value

    def whole(self, name: str, least: int, most: int, usual: int | None = None) -> int | None:
        text = self.text(name)
        if not text:
            return usual
        if re.fullmatch(r"\d{1,15}", text) is None or not least <= int(text) <= most:
            raise invalid(f"{name} must be a whole number from {least} to {most}.", name)
        return int(text)

    def moment(self, name: str, unit_ms: int) -> datetime | None:
        number = self.whole(name, 0, _LATEST_MS // unit_ms)
        return None if number is None else datetime.fromtimestamp(number * unit_ms / 1000, UTC)
