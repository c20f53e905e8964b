"""The audio path: no thread, no buffering, no redirect; and an id on everything."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import httpx
import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from tests.ttsapp.conftest import Party, speech
from ttsapp import middleware
from ttsapp.http import is_api


def test_the_whole_chain_is_native_to_asyncio() -> None:
    layers = [import_string(name) for name in settings.MIDDLEWARE]
    assert all(layer.async_capable for layer in layers)
    assert layers[0] is middleware.RequestContext


def test_nothing_synchronous_waits_for_a_request_to_begin() -> None:
    code = (
        "import ttsapp.asgi; from django.core.signals import request_started;"
        "print(request_started.receivers)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_nothing_buffers_what_a_view_streams() -> None:
    assert "django.middleware.gzip.GZipMiddleware" not in settings.MIDDLEWARE


def test_the_api_passes_the_outermost_layer_alone(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the API went through the pages' middleware")

    for layer in (middleware.StaticFiles, middleware.Security):
        monkeypatch.setattr(layer, "__call__", fail)
    assert http.get("/v1/models", headers=alice.headers).status_code == 200
    assert http.get("/console/login").status_code == 500


def test_the_api_starts_no_thread_for_a_request(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    http.get("/v1/models", headers=alice.headers)
    started: list[object] = []
    monkeypatch.setattr("threading.Thread.start", started.append)
    assert http.get("/v1/models", headers=alice.headers).status_code == 200
    assert started == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1", True),
        ("/v1/audio/speech", True),
        ("/openai/v1/models", True),
        ("/livez", True),
        ("/v10", False),
        ("/", False),
        ("/console/", False),
        ("/console/v1/", False),
        ("/admin/", False),
    ],
)
def test_which_paths_are_the_apis(path: str, expected: bool) -> None:
    assert is_api(path) is expected


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/livez", "/readyz", "/nothing", "/console/", "/console/login", "/"]
)
def test_every_answer_has_an_id_of_its_own(http: httpx.Client, path: str) -> None:
    first, second = http.get(path), http.get(path)
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


def test_the_warm_up_call_needs_no_key(http: httpx.Client) -> None:
    assert http.get("/v1/").status_code == 200


def test_a_missing_slash_never_redirects(http: httpx.Client, alice: Party) -> None:
    for path in ("/v1/audio/speech", "/v1/models", "/v1/audio/voices"):
        assert http.get(path + "/", headers=alice.headers).status_code == 404


def test_logs_know_the_request_and_the_key_but_not_the_words(
    http: httpx.Client, alice: Party, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        response = http.post(
            "/v1/audio/speech?secret=query",
            json=speech("Very private words."),
            headers=alice.headers,
        )

    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    line = next(line for line in lines if line["event"] == "request")
    assert line["request_id"] == response.headers["x-request-id"]
    assert (line["key"], line["status"]) == (alice.key.public_id, 200)
    everything = json.dumps([str(record.msg) for record in caplog.records])
    assert "private" not in everything
    assert "query" not in everything
    assert alice.secret not in everything


def test_an_unforeseen_fault_is_a_json_500(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("private detail")

    monkeypatch.setattr("ttsapp.dialects.openai.codec.order", fail)
    response = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)

    assert response.status_code == 500
    assert response.json()["error"]["code"] == "internal_error"
    assert "private" not in response.text
    assert response.headers["x-request-id"]
