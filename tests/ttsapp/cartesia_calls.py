"""How the tests of Cartesia's dialect call it."""

from __future__ import annotations

from typing import Any

import httpx

from tests.ttsapp.conftest import Party

RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
KATIE = "f786b574-daa5-4673-aa0c-cbe3e8534c02"
CARSON = "86e30c1d-714b-4074-a1f2-1cb6b552fb49"


def body(**fields: Any) -> dict[str, Any]:
    """A request that is right unless told otherwise."""
    usual = {"model_id": "sonic-3", "transcript": "Hello there.", "voice": "Anna"}
    asked = {**usual, "output_format": RAW, "language": "en", **fields}
    return {name: value for name, value in asked.items() if value is not ...}


def say(http: httpx.Client, party: Party, path: str = "/tts/bytes", **fields: Any):
    return http.post(path, json=body(**fields), headers=party.headers)


def refused(response: httpx.Response, status: int, code: str) -> str:
    assert response.status_code == status
    said = response.json()
    assert set(said) == {"error_code", "title", "message", "request_id"}
    assert said["error_code"] == code
    assert said["request_id"] == response.headers["x-request-id"]
    return said["message"]
