"""A dialect's calls as OpenAPI has them: what they take is read off the types that they are parsed
with, so that the document cannot promise anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

Schema = dict[str, Any]
Media = Mapping[str, Schema]

JSON, FORM, EVENTS = "application/json", "multipart/form-data", "text/event-stream"
TEXT: Schema = {"type": "string"}
BYTES: Schema = {"type": "string", "format": "binary"}
# One of a stream's: what its data says is each dialect's own.
EVENT: Schema = {"type": "object", "properties": {"data": TEXT}, "required": ["data"]}

# What any call may be refused with, and those besides that bring text to speak or a recording.
_ALWAYS = (401, 403, 429, 503)
SPEECH = (400, 404, 408, 409, 413, 415, 422, 500, 504)
FORMS = (400, 404, 408, 409, 413, 415, 422, 500)
BODY = (400, 413)


@dataclass(frozen=True, slots=True)
class Call:
    """One method of one path below the dialect's address. `answer`: a schema by content type; empty
    for an answer without a body, None for a call that is only ever refused."""

    method: str
    path: str
    summary: str
    answer: Media | None
    query: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, Schema] = field(default_factory=dict)
    body: Media = field(default_factory=dict)
    refusals: tuple[int, ...] = ()
    is_open: bool = False

    @property
    def statuses(self) -> tuple[int, ...]:
        always = () if self.is_open else _ALWAYS
        of_query = (400,) if self.query else ()
        of_path = (404,) if "{" in self.path else ()
        return tuple(sorted({*always, *of_query, *of_path, *self.refusals}))


@dataclass(frozen=True, slots=True)
class Described:
    """`root`: where the dialect's calls lie; `error`: what it says of any refusal."""

    name: str
    root: str
    error: Schema
    calls: tuple[Call, ...]


def fields(
    known: Mapping[str, Any],
    required: Sequence[str] = (),
    nested: Mapping[str, Schema] | None = None,
    *,
    example: Mapping[str, Any] | None = None,
    is_lenient: bool = False,
) -> Schema:
    """An object of `strict.fields`. `nested`: of fields that are parsed by themselves."""
    inner = nested or {}
    found = {name: inner.get(name) or of_type(kind) for name, kind in known.items()}
    schema: Schema = {
        "type": "object",
        "properties": found,
        "required": list(required),
        "additionalProperties": is_lenient,
    }
    return schema if example is None else schema | {"example": dict(example)}


def of_type(kind: Any) -> Schema:
    """What msgspec takes for a type; Raw is anything."""
    if kind is msgspec.Raw:
        return {}
    (schema,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    found: Schema = _inlined(schema, parts)
    return found


def _inlined(schema: Any, parts: Mapping[str, Schema]) -> Any:
    if isinstance(schema, list):
        return [_inlined(each, parts) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(parts[schema["$ref"]], parts)
    return {name: _inlined(each, parts) for name, each in schema.items() if name != "title"}


def texts(*names: str) -> dict[str, Schema]:
    """Query parameters, whose values are looked at one by one."""
    return dict.fromkeys(names, TEXT)


def form(names: Sequence[str], files: Sequence[str], required: Sequence[str] = ()) -> Media:
    found = {**dict.fromkeys(names, TEXT), **dict.fromkeys(files, BYTES)}
    return {FORM: {"type": "object", "properties": found, "required": list(required)}}


def body(schema: Schema) -> Media:
    return {JSON: schema}


def document(*required: str) -> Media:
    """A JSON answer that always has these."""
    return {JSON: {"type": "object", "required": list(required)}}


def error(*required: str, within: str = "") -> Schema:
    inner: Schema = {"type": "object", "required": list(required)}
    if not within:
        return inner
    return {"type": "object", "properties": {within: inner}, "required": [within]}
