"""The OpenAPI document of the calls that speak, in every dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from importlib.metadata import version

from ttsapp.dialects.cartesia.calls import CARTESIA
from ttsapp.dialects.dashscope.calls import DASHSCOPE
from ttsapp.dialects.deepgram.calls import DEEPGRAM
from ttsapp.dialects.described import JSON, TEXT, Call, Described, Schema
from ttsapp.dialects.elevenlabs.calls import ELEVENLABS
from ttsapp.dialects.openai.calls import OPENAI

DIALECTS = (OPENAI, ELEVENLABS, CARTESIA, DASHSCOPE, DEEPGRAM)
_ABOUT = (
    "Speech in the dialects of hosted services. Each lies below an address of its own, as here, "
    "and at the root under the same paths; GET /v1/models is there ElevenLabs' with xi-api-key, "
    "and OpenAI's without. Sockets are in the documentation."
)


@cache
def speech_document() -> Schema:
    paths: dict[str, Schema] = {}
    for dialect in DIALECTS:
        for call in dialect.calls:
            paths.setdefault(dialect.root + call.path, {})[call.method] = _operation(dialect, call)
    errors = {dialect.name: dialect.error for dialect in DIALECTS}
    key = {
        "type": "http",
        "scheme": "bearer",
        "description": "A key: to speak, or to read.",
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Parlance speech", "version": version("parlance"), "description": _ABOUT},
        "paths": paths,
        "components": {"schemas": errors, "securitySchemes": {"key": key}},
    }


def _operation(dialect: Described, call: Call) -> Schema:
    return {
        "operationId": f"{call.method}{re.sub(r'[^a-z0-9]+', '_', dialect.root + call.path)}",
        "tags": [dialect.name],
        "summary": call.summary,
        "parameters": list(_parameters(call)),
        **_request(call),
        "responses": dict(_responses(dialect, call)),
        "security": [] if call.is_open else [{"key": []}],
    }


def _parameters(call: Call) -> Iterator[Schema]:
    for name in re.findall(r"{(\w+)}", call.path):
        yield {"name": name, "in": "path", "required": True, "schema": TEXT}
    for place, found in (("query", call.query), ("header", call.headers)):
        for name, schema in found.items():
            yield {"name": name, "in": place, "schema": schema}


def _request(call: Call) -> Schema:
    if not call.body:
        return {}
    content = {kind: {"schema": schema} for kind, schema in call.body.items()}
    return {"requestBody": {"required": True, "content": content}}


def _responses(dialect: Described, call: Call) -> Iterator[tuple[str, Schema]]:
    if call.answer is not None:
        content = {kind: {"schema": schema} for kind, schema in call.answer.items()}
        answer: Schema = {"description": call.summary, "content": content}
        yield ("200", answer) if content else ("204", {"description": call.summary})
    told = {JSON: {"schema": {"$ref": f"#/components/schemas/{dialect.name}"}}}
    for status in call.statuses:
        yield str(status), {"description": HTTPStatus(status).phrase, "content": told}
