"""What may stand in the fields of voices and consents, the same by every way in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime

from django.utils import timezone

from billing import dates
from ttsapp.errors import invalid
from ttsapp.speech.encoders import FASTEST, SLOWEST
from ttsapp.speech.text.languages import AUTO, NAMES
from ttsapp.voices.models import Relation

MOST_TAGS, TAG_LENGTH = 20, 40
NAME_LENGTH, TEXT_LENGTH = 100, 1000
# A root, a drive, a step up or aside, and separators that something behind us might unpack.
_PATH = re.compile(r"[/\\~]|[a-z]:[/\\]|(?:.*[/\\])?\.{1,2}(?:[/\\]|$)|.*%(?:2e|2f|5c|00)", re.I)


def line(value: str, field: str, most: int, *, is_required: bool = True) -> str:
    """One line of text without control characters. Raises ApiError 400."""
    text = value.strip()
    if is_required and not text:
        raise invalid(f"{field} is empty: fill it in.", field, "missing_field")
    if len(text) > most:
        raise invalid(f"{field} may have {most} characters.", field, "string_above_max_length")
    if any(unicodedata.category(character).startswith("C") for character in text):
        message = f"{field} has characters in it that cannot be shown: write it on one line."
        raise invalid(message, field)
    return text


def name(value: str, field: str = "name") -> str:
    """What people call a voice or a consent: one line that is no path. Nothing here makes a path
    of it, but what exports it, or is told of it, may. Raises ApiError 400."""
    text = line(value, field, NAME_LENGTH)
    if _PATH.match(text):
        raise invalid(f"{field} looks like a path: choose a plain name, like Ann.", field)
    return text


def tags(values: Iterable[str], field: str = "tags") -> list[str]:
    """Raises ApiError 400."""
    found = list(dict.fromkeys(line(value, field, TAG_LENGTH).casefold() for value in values))
    if len(found) > MOST_TAGS:
        raise invalid(f"{field}: a voice may have {MOST_TAGS}.", field)
    return found


def language(value: str, field: str = "language") -> str:
    """The engine's name, of that name or of a tag like en-GB. Raises ApiError 400."""
    wanted = value.strip().casefold() or AUTO
    code = wanted.partition("-")[0]
    found = NAMES.get(code, wanted)
    if found != AUTO and found not in NAMES.values():
        known = ", ".join((AUTO, *NAMES.values()))
        raise invalid(f"Unknown language {value[:50]!r}: choose one of {known}.", field)
    return found


def speed(value: float, field: str = "speed") -> float:
    if not SLOWEST <= value <= FASTEST:
        raise invalid(f"{field} may be {SLOWEST} to {FASTEST}.", field)
    return value


def relation(value: str, field: str = "relation") -> Relation:
    try:
        return Relation(value)
    except ValueError:
        known = ", ".join(Relation)
        raise invalid(f"{field} {value[:50]!r} is not one of {known}.", field) from None


def expiry(value: datetime | None, field: str = "expires_at") -> datetime | None:
    """Raises ApiError 400 for a moment that has passed, or that nobody means."""
    if value is not None and not dates.may_be_named(value.date()):
        raise invalid(f"{field} may be a time {dates.DAYS}.", field)
    if value is not None and value <= timezone.now():
        raise invalid(f"{field} has passed already: choose a later time.", field)
    # Databases know fewer zones than clients do.
    return value.astimezone(UTC) if value is not None else None
