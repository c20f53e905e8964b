"""Calling ElevenLabs' dialect over HTTP, and what its answers look like."""

from __future__ import annotations

import base64
import json

import httpx

from tests.ttsapp.conftest import Party

RACHEL, ADAM = "21m00Tcm4TlvDq8ikWAM", "pNInz6obpgDQGcFmaJgB"
CALLS = ("", "/stream", "/with-timestamps", "/stream/with-timestamps")


def xi(party: Party) -> dict[str, str]:
    return {"xi-api-key": party.secret}


def say(
    http: httpx.Client,
    party: Party,
    call: str = "",
    text: object = "Hello there.",
    voice: str = RACHEL,
    output_format: str = "pcm_24000",
    **fields: object,
) -> httpx.Response:
    path = f"/v1/text-to-speech/{voice}{call}"
    query = {"output_format": output_format} if output_format else {}
    body = {"text": text, **fields}
    return http.post(path, params=query, json=body, headers=xi(party))


def refused(response: httpx.Response, status: int, code: str) -> dict:
    assert response.status_code == status, response.text
    detail = response.json()["detail"]
    assert detail["status"] == code
    assert response.headers["request-id"]
    return detail


def audio_of(call: str, response: httpx.Response) -> bytes:
    if "timestamps" not in call:
        return response.content
    lines = [json.loads(line) for line in response.text.splitlines() if line]
    return b"".join(base64.b64decode(line["audio_base64"]) for line in lines)


def get(http: httpx.Client, party: Party, path: str, **query: object) -> httpx.Response:
    params = {name: str(value) for name, value in query.items()}
    return http.get(path, params=params or None, headers=xi(party))


def found(http: httpx.Client, party: Party, path: str, **query: object):
    answer = get(http, party, path, **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def spoke(http: httpx.Client, party: Party, text: str, voice: str = RACHEL) -> str:
    """The id of its history item."""
    answer = http.post(
        f"/v1/text-to-speech/{voice}?output_format=pcm_24000",
        json={"text": text},
        headers=xi(party),
    )
    assert answer.status_code == 200
    return answer.headers["history-item-id"]
