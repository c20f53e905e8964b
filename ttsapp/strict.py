"""JSON from outside, taken apart so that every refusal names the field it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

import msgspec

from ttsapp.errors import ApiError, invalid, not_offered

# What to send, by the type that is expected; and what was sent, by the type that came.
_WANTED: dict[Any, str] = {
    str: "text in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    bool | str: "true, false or text in quotes",
    list[float]: "a list of numbers",
    list[str]: "a list of texts",
}
_WANTED_ELSE = 'text in quotes, or an object {"id": text}'
_SENT: dict[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def fields(
    body: bytes,
    known: Mapping[str, Any],
    required: tuple[str, ...],
    *,
    within: str = "",
    has_nulls: bool = False,
    needed: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The fields of a JSON object, each of its known type. Raises ApiError 400.

    `within`: the field whose value the object is. `has_nulls`: null is the same as left out.
    `needed`: what the caller requires of some; nobody is told to leave it, or what is required,
    out."""
    raw = _object(body, within)
    prefix = f"{within}." if within else ""
    if has_nulls:
        raw = {name: value for name, value in raw.items() if bytes(value) != b"null"}
    for name in raw:
        if name not in known:
            said = (prefix + name)[:50]
            message = f"Unknown field {said!r}: leave it out. Known are {', '.join(known)}."
            raise invalid(message, said, "unknown_field")
    for name in required:
        if name not in raw:
            said = prefix + name
            raise invalid(f"The field {said} is required: add it.", said, "missing_field")
    missed = (*required, *needed)
    return {
        name: _typed(prefix + name, value, known[name], may_leave=name not in missed)
        for name, value in raw.items()
    }


def check_json(content_type: str) -> None:
    """Raises ApiError 415 for what does not say that it is JSON."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        message = "Send the request as application/json."
        raise ApiError(415, "unsupported_media_type", message)


def check_choice(values: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> None:
    """Raises ApiError 400 for a value, if there is one, that is none of these."""
    if name in values and values[name] not in choices:
        raise not_offered(name, values[name], choices)


def _object(body: bytes, within: str) -> dict[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        if within:
            message = f"{within} is not a JSON object: send one with its fields."
            raise invalid(message, within, "invalid_type") from None
        message = "The body is not a JSON object: send one with the fields of the request."
        raise invalid(message, None, "invalid_json") from None
    except (msgspec.DecodeError, RecursionError):
        message = "The body is not valid JSON: check its quotes, commas and encoding (UTF-8)."
        raise invalid(message, None, "invalid_json") from None


def _typed(name: str, value: msgspec.Raw, kind: Any, *, may_leave: bool) -> Any:
    try:
        return msgspec.json.decode(value, type=kind)
    except msgspec.ValidationError:
        raise _wrong(name, value, kind, may_leave) from None
    except (msgspec.DecodeError, RecursionError):
        raise invalid(f"{name} is not valid JSON text.", name, "invalid_json") from None


def _wrong(name: str, value: msgspec.Raw, kind: Any, may_leave: bool) -> ApiError:
    """Of the wrong type, or of the right one and out of its bounds."""
    try:
        sent = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return invalid(f"{name} is not valid JSON text.", name, "invalid_json")
    if type(sent) is _plain(kind):
        message = f"{name} {sent} is out of range: send {_WANTED[int]}{_bounds(kind)}."
        return invalid(message, name)
    wanted = _WANTED.get(_plain(kind), _WANTED_ELSE) + _bounds(kind)
    message = f"{name} is {_SENT.get(type(sent), 'null')}: send {wanted}"
    rest = ", or leave the field out." if may_leave else "."
    return invalid(message + rest, name, "invalid_type")


def _plain(kind: Any) -> Any:
    """The type without what `Annotated` adds to it."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _bounds(kind: Any) -> str:
    for extra in get_args(kind):
        if isinstance(extra, msgspec.Meta):
            return f" from {extra.ge} to {extra.le}"
    return ""
