"""The OpenAPI document as a page shows it: sections of calls, each with its fields in one list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """`name`: with dots and [] where it lies within others."""

    name: str
    kind: str
    note: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class Call:
    """`returns`: the fields of its answer when all is well."""

    method: str
    path: str
    summary: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    returns: tuple[Field, ...]
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    calls: tuple[Call, ...]


def sections(document: Schema) -> tuple[Section, ...]:
    reader = _Reader(document)
    found: dict[str, list[Call]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            call = reader.call(method, path, operation)
            found.setdefault(operation["tags"][0], []).append(call)
    return tuple(Section(name, tuple(calls)) for name, calls in sorted(found.items()))


class _Reader:
    def __init__(self, document: Schema) -> None:
        self._schemas: dict[str, Schema] = document["components"]["schemas"]

    def call(self, method: str, path: str, operation: Schema) -> Call:
        answers = operation["responses"]
        good = next(answer for status, answer in answers.items() if status < "300")
        return Call(
            method=method.upper(),
            path=path,
            summary=operation["summary"],
            parameters=tuple(self._parameter(one) for one in operation.get("parameters", ())),
            body=tuple(self._content(operation.get("requestBody", {}))),
            returns=tuple(self._content(good)),
            answers=tuple(Answer(status, one["description"]) for status, one in answers.items()),
        )

    def _parameter(self, parameter: Schema) -> Field:
        note = parameter.get("description") or parameter["schema"].get("description", "")
        kind = self._kind(parameter["schema"])
        return Field(parameter["name"], kind, note, parameter.get("required", False))

    def _content(self, holder: Schema) -> Iterator[Field]:
        for media in holder.get("content", {}).values():
            yield from self._fields(media["schema"], "")

    def _fields(self, schema: Schema, within: str) -> Iterator[Field]:
        schema = self._whole(schema)
        required = schema.get("required", ())
        for name, inner in schema.get("properties", {}).items():
            whole, path = self._whole(inner), f"{within}{name}"
            yield Field(path, self._kind(whole), whole.get("description", ""), name in required)
            if "properties" in whole:
                yield from self._fields(whole, f"{path}.")
            elif "properties" in (item := self._whole(whole.get("items", {}))):
                yield from self._fields(item, f"{path}[].")

    def _whole(self, schema: Schema) -> Schema:
        """What a reference stands for; what is said beside it is kept."""
        for reference in (schema, *schema.get("allOf", ())):
            if "$ref" in reference:
                named = self._schemas[reference["$ref"].rpartition("/")[2]]
                beside = {name: value for name, value in schema.items() if name != "$ref"}
                return {**named, **beside}
        return schema

    def _kind(self, schema: Schema) -> str:
        schema = self._whole(schema)
        if "enum" in schema:
            return " | ".join(str(one) for one in schema["enum"] if one != "")
        kinds = schema.get("type", "any")
        if isinstance(kinds, str):
            kinds = [kinds]
        if kinds == ["array"]:
            return f"list of {self._kind(schema.get('items', {}))}"
        named = schema.get("format") if "string" in kinds else None
        shown = " or ".join(kinds)
        return f"{shown} ({named})" if named else shown
