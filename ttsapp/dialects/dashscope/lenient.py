"""JSON of clients that send more than is known: that is left out, the rest is looked at closely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ttsapp import strict


def fields(
    body: bytes, known: Mapping[str, Any], required: tuple[str, ...] = (), *, within: str = ""
) -> dict[str, Any]:
    """As `strict.fields`, but for unknown fields, which are skipped. Null is the same as left out.

    Raises ApiError 400."""
    try:
        given = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        given = None
    if given is not None:
        body = msgspec.json.encode({name: given[name] for name in known if name in given})
    return strict.fields(body, known, required, within=within, has_nulls=True)
