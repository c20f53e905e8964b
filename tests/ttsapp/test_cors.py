"""Pages in browsers may call every dialect, and read what its clients read."""

from __future__ import annotations

import httpx
import pytest

from tests.ttsapp.conftest import Party, speech

PAGE = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
PATHS = ["/v1/audio/speech", "/v1/speak", "/tts/bytes", "/v1/text-to-speech/clara"]


@pytest.mark.parametrize("path", PATHS)
def test_a_preflight_needs_no_key(http: httpx.Client, path: str) -> None:
    answer = http.options(path, headers=PAGE)
    assert answer.status_code == 204
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"
    assert "authorization" in answer.headers["Access-Control-Allow-Headers"]


def test_an_answer_may_be_read_by_a_page(http: httpx.Client, alice: Party) -> None:
    answer = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"x-request-id", "x-parlance-seed", "retry-after"} <= set(exposed)


def test_a_refusal_may_be_read_by_a_page(http: httpx.Client, alice: Party) -> None:
    answer = http.post("/v1/audio/speech", json=speech(), headers={})
    assert answer.status_code == 401
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_no_cookie_speaks_for_anyone(http: httpx.Client, alice: Party) -> None:
    answer = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_pages_of_the_console_are_not_opened(http: httpx.Client) -> None:
    assert "Access-Control-Allow-Origin" not in http.get("/console/", headers=PAGE).headers
