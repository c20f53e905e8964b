"""The dialects against their own OpenAPI document: whatever it allows to be sent, nothing is a 500,
and every answer is one that it announces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import httpx
import pytest
import schemathesis
from django.urls import URLPattern
from hypothesis import given
from schemathesis import Case, GenerationMode

from tests.ttsapp.announced import FEW, answer
from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from ttsapp.dialects.described import JSON
from ttsapp.dialects.document import DIALECTS, speech_document

ORIGIN = {"Origin": "https://example.com", "Access-Control-Request-Method": "POST"}


@pytest.mark.parametrize("dialect", [dialect.name for dialect in DIALECTS])
def test_every_answer_is_announced(
    dialect: str, base: str, alice: Party, engine: ScriptedEngine
) -> None:
    schema = schemathesis.openapi.from_dict(speech_document()).include(tag=dialect)
    for found in schema.get_all_operations():
        operation = found.ok()
        try_out(operation, base, alice.headers)
        say_the_example(operation, base, alice.headers)


def try_out(operation: Any, base: str, headers: dict[str, str]) -> None:
    """What the document allows, and what it does not where it says so of a body."""
    modes = [GenerationMode.POSITIVE]
    if body_of(operation).get("additionalProperties") is False:
        modes.append(GenerationMode.NEGATIVE)
    for mode in modes:

        @FEW
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: Case) -> None:
            answer(case, base, headers)

        check()


def body_of(operation: Any) -> dict[str, Any]:
    content = operation.definition.raw.get("requestBody", {}).get("content", {})
    schema: dict[str, Any] = content.get(JSON, {}).get("schema", {})
    return schema


def say_the_example(operation: Any, base: str, headers: dict[str, str]) -> None:
    """What the document shows is a request that succeeds, wherever there is one to show."""
    example = body_of(operation).get("example")
    if example is None:
        return
    path = {"voice_id": "alloy", "name": "none"}
    names = {name: path[name] for name in re.findall(r"{(\w+)}", operation.path)}
    case = operation.Case(path_parameters=names, body=example, media_type=JSON)
    response = answer(case, base, headers)
    assert response.status_code == (404 if "name" in names else 200), response.text


def routes() -> Iterator[str]:
    """Every address of a dialect but those under which there is nothing."""
    for dialect in DIALECTS:
        package = dialect.name.lower()
        urls = import_module(f"ttsapp.dialects.{package}.urls").urlpatterns
        for one in urls:
            assert isinstance(one, URLPattern)
            route = re.sub(r"<\w+:(\w+)>", r"{\1}", str(one.pattern))
            if "{rest}" not in route:
                yield f"{dialect.root}/{route.removeprefix('/')}".rstrip("/")


def test_no_address_is_left_out() -> None:
    known = {path.rstrip("/") for path in speech_document()["paths"]}
    # The one that clients warm up at says nothing.
    assert set(routes()) == known | {"/openai/v1"}


def test_no_method_is_left_out(base: str) -> None:
    """By what a browser is told that it may send."""
    for path, operations in speech_document()["paths"].items():
        if all(operation["security"] == [] for operation in operations.values()):
            continue
        address = path.replace("{wanted}", "01890a5d-ac96-774b-bcce-b302099a8057")
        told = httpx.options(base + re.sub(r"{\w+}", "x", address), headers=ORIGIN)
        allowed = told.headers["Access-Control-Allow-Methods"].lower().split(", ")
        assert sorted(allowed) == sorted(operations), path


def test_it_is_served(base: str) -> None:
    found = httpx.get(f"{base}/api/schema/speech/")
    assert found.headers["Content-Type"] == "application/vnd.oai.openapi+json"
    assert found.json() == speech_document()
