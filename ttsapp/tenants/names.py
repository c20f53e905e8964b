"""What a tenant may be called, the same by every way in."""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError

# A tenant's pages lie beside these.
RESERVED_SLUGS = frozenset({"login", "logout"})
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?", re.ASCII)


def check_line(text: str) -> None:
    """Raises ValidationError for what could not be read as it is written: line ends, controls,
    marks that turn the direction."""
    if any(unicodedata.category(character).startswith("C") for character in text):
        raise ValidationError("It has characters that cannot be shown: write it on one line.")


def check_slug(slug: str) -> None:
    """Raises ValidationError. Capitals are none of it, so no two differ by them alone."""
    if _SLUG.fullmatch(slug) is None:
        message = "Write small letters, digits and hyphens; begin and end with a letter or digit."
        raise ValidationError(message)
    if slug in RESERVED_SLUGS:
        raise ValidationError("The console has a page of this name: choose another.")
