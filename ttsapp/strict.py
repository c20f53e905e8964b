"""JSON from outside, taken apart so that every refusal names the field it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ttsapp.errors import invalid


def fields(body: bytes, known: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a JSON object, each of its known type. Raises ApiError 400."""
    raw = _object(body)
    for name in raw:
        if name not in known:
            raise invalid(f"Unknown field {name[:50]!r}.", name[:50], "unknown_field")
    for name in required:
        if name not in raw:
            raise invalid(f"The field {name!r} is required.", name, "missing_field")
    return {name: _typed(name, value, known[name]) for name, value in raw.items()}


def check_choice(values: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> None:
    """Raises ApiError 400 for a value, if there is one, that is none of these."""
    if name in values and values[name] not in choices:
        offered = ", ".join(choices)
        message = f"{name} {values[name][:50]!r} is not offered: choose one of {offered}."
        raise invalid(message, name)


def _object(body: bytes) -> dict[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        raise invalid("This must be a JSON object.", None, "invalid_json") from None
    except (msgspec.DecodeError, RecursionError):
        raise invalid("This is not valid JSON.", None, "invalid_json") from None


def _typed(name: str, value: msgspec.Raw, kind: Any) -> Any:
    try:
        return msgspec.json.decode(value, type=kind)
    except msgspec.ValidationError as error:
        raise invalid(f"{name}: {error}.", name, "invalid_type") from None
    except msgspec.DecodeError:
        raise invalid(f"{name}: not valid JSON text.", name, "invalid_json") from None
