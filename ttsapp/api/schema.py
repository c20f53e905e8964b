"""How the OpenAPI document is made of the views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import is_list_serializer

from ttsapp.api.problems import MEDIA_TYPE

_PROBLEM = "#/components/schemas/Problem"
_REFUSALS = {
    "400": "Something in the request is wrong: errors names it.",
    "401": "No key, or one that has ended; nobody is signed in.",
    "403": "The key or the role may not do this.",
    "404": "It is not there, or not yours.",
    "409": "It is not in a state that allows this.",
    "415": "Send application/json.",
    "503": "Try again: Retry-After says when.",
}


class Operation(AutoSchema):
    """Lists are paged by the view itself, which the framework cannot see."""

    def _is_list_view(self, serializer: Any = None) -> bool:
        return is_list_serializer(serializer or self.get_response_serializers())

    def get_description(self) -> str:  # type: ignore[override]
        """A view's docstring is for who reads the code."""
        return ""

    def _get_paginator(self) -> Any:
        pages = getattr(self.view, "pagination_class", None)
        return pages() if pages else None


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "ttsapp.api.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "A key with the scope manage."}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "ttsapp.api.authentication.PersonAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "The console's own, with X-CSRFToken where something changes.",
        }


def add_problems(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Every refusal is the same document, so it is described once."""
    result["components"]["schemas"]["Problem"] = _problem()
    for operation in _operations(result):
        _forbid_more(operation, result["components"]["schemas"])
        for status in _statuses(operation):
            content = {MEDIA_TYPE: {"schema": {"$ref": _PROBLEM}}}
            answer = {"description": _REFUSALS[status], "content": content}
            operation["responses"].setdefault(status, answer)
    return result


def _forbid_more(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Unknown fields of a body are refused, so the document says it."""
    for media in operation.get("requestBody", {}).get("content", {}).values():
        schemas[media["schema"]["$ref"].rpartition("/")[2]]["additionalProperties"] = False


def _statuses(operation: dict[str, Any]) -> Iterator[str]:
    has_body = "requestBody" in operation
    has_path = any(one["in"] == "path" for one in operation.get("parameters", ()))
    has_query = any(one["in"] == "query" for one in operation.get("parameters", ()))
    if has_body or has_query:
        yield "400"
    yield from ("401", "403")
    if has_path or has_query or "platform" in operation["tags"]:
        yield "404"
    if has_body:
        yield from ("409", "415")
    yield "503"


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()


def _problem() -> dict[str, Any]:
    text = {"type": "string"}
    fault = {
        "type": "object",
        "properties": dict.fromkeys(("field", "code", "detail"), text),
        "required": ["field", "code", "detail"],
    }
    return {
        "type": "object",
        "properties": {
            **dict.fromkeys(("type", "title", "code", "detail", "request_id"), text),
            "status": {"type": "integer"},
            "errors": {"type": "array", "items": fault},
        },
        "required": ["type", "title", "status", "code", "detail", "errors", "request_id"],
    }
