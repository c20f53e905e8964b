"""Limits in the shape of each API, and as the clients of some take them."""

from __future__ import annotations

import json
import threading

import httpx
import openai
import pytest
from websockets.sync.client import connect

from tests.ttsapp import cartesia_calls
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.limited import TEXT, limit, refused, say
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog


def test_deepgrams_shape(http: httpx.Client, alice: Party) -> None:
    limit(alice, requests_per_minute=1)
    first = http.post("/v1/speak", json={"text": "Hi."}, headers=alice.headers)
    response = http.post("/v1/speak", json={"text": "Hi."}, headers=alice.headers)

    assert first.headers["x-ratelimit-remaining-requests"] == "0"
    assert response.status_code == 429
    assert response.json()["err_code"] == "RATE_LIMIT_EXCEEDED"
    assert response.headers["x-parlance-limit"] == "account.requests_per_minute"
    assert int(response.headers["Retry-After"]) >= 55


EVERY_API = [
    ("/v1/audio/speech", speech(TEXT)),
    ("/v1/speak", {"text": TEXT}),
    ("/tts/bytes", cartesia_calls.body(transcript=TEXT)),
    ("/v1/text-to-speech/Anna", {"text": TEXT}),
]


@pytest.mark.parametrize(("path", "body"), EVERY_API, ids=[path for path, _ in EVERY_API])
def test_no_api_forgets_the_limits(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, path: str, body: dict[str, object]
) -> None:
    limit(alice, requests_per_minute=1, hard_monthly_characters=1000)
    answers = [http.post(path, json=body, headers=alice.headers) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert [answer.headers["x-ratelimit-remaining-requests"] for answer in answers] == ["0", "0"]
    assert answers[1].headers["x-parlance-limit"] == "account.requests_per_minute"
    assert "may begin 1 request a minute" in answers[1].text
    assert len(engine.heard) == 1


def test_elevenlabs_clients_learn_of_a_spent_budget_as_they_expect(
    http: httpx.Client, alice: Party
) -> None:
    limit(alice, hard_monthly_characters=5)
    answer = http.post("/v1/text-to-speech/Anna", json={"text": TEXT}, headers=alice.headers)
    assert answer.status_code == 401
    assert answer.json()["detail"]["status"] == "quota_exceeded"


def test_openais_client_does_not_try_a_spent_budget_again(
    base: str, http: httpx.Client, alice: Party
) -> None:
    limit(alice, hard_monthly_characters=5)
    with (
        openai.OpenAI(base_url=f"{base}/v1", api_key=alice.secret, max_retries=2) as client,
        pytest.raises(openai.RateLimitError) as refusal,
    ):
        client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT)
    assert refusal.value.code == "insufficient_quota"
    # On the last day of a month a wait alone would be short enough to be tried again.
    assert refusal.value.response.headers["x-should-retry"] == "false"
    eventually(lambda: RequestLog.objects.count() == 1)


def test_openais_client_waits_for_a_stream_and_is_served(
    base: str, http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    limit(alice, concurrent_streams=1)
    engine.next_scripts.append(Script(hold_after=2))
    with (
        openai.OpenAI(base_url=f"{base}/v1", api_key=alice.secret, max_retries=2) as client,
        http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as first,
    ):
        next(first.iter_raw())
        threading.Timer(0.3, engine.release.set).start()
        spoken_at_last = client.audio.speech.create(
            model="tts-1", voice="alloy", input=TEXT, response_format="pcm"
        )
    assert spoken_at_last.content == spoken(5)


def test_text_that_comes_later_counts_when_its_utterance_ends(
    base: str, http: httpx.Client, alice: Party
) -> None:
    limit(alice, characters_per_minute=60, hard_monthly_characters=1000)
    url = base.replace("http", "ws", 1) + "/v1/audio/speech/ws"
    messages = (
        {"type": "start", "voice": "alloy", "response_format": "pcm"},
        {"type": "text", "text": "A first sentence. "},
        {"type": "text", "text": "And a second one, which is longer. "},
        {"type": "end"},
    )
    with connect(url, additional_headers=alice.headers) as socket:
        for message in messages:
            socket.send(json.dumps(message))
        while not (isinstance(told := socket.recv(timeout=10), str) and "finished" in told):
            pass
    response = say(http, alice)
    refused(response, "rate_limit_exceeded", "account.characters_per_minute")
    characters = sum(len(str(message.get("text", ""))) for message in messages)
    assert response.headers["x-ratelimit-remaining-tokens"] == str(60 - characters)
    assert response.headers["x-parlance-budget-remaining"] == str(1000 - characters)


def test_on_a_socket_the_utterance_fails_and_the_socket_goes_on(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    limit(alice, concurrent_streams=1)
    url = base.replace("http", "ws", 1) + "/v1/audio/speech/ws"
    start = {"type": "start", "model": "tts-1", "voice": "alloy", "response_format": "pcm"}
    engine.script.hold_after = 1

    def begin(socket, text: str = TEXT) -> None:
        for message in (start, {"type": "text", "text": text}, {"type": "end"}):
            socket.send(json.dumps(message))

    def last(socket) -> dict[str, object]:
        while True:
            message = socket.recv(timeout=10)
            if isinstance(message, str) and json.loads(message)["type"] in ("error", "finished"):
                return json.loads(message)

    headers = alice.headers
    with connect(url, additional_headers=headers) as one:
        begin(one)
        engine.wait_for_stream()
        with connect(url, additional_headers=headers) as other:
            begin(other)
            error = last(other)
            engine.release.set()
            assert last(one)["type"] == "finished"
            engine.script.hold_after = None
            begin(other)
            assert last(other)["type"] == "finished"
    assert error["error"]["code"] == "concurrent_limit_exceeded"
    assert len(engine.heard) == 2
