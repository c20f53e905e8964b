"""Bad input: one refusal a test, the field named, the engine and the ledger untouched."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog


@pytest.fixture(autouse=True)
def nothing_happened(base: str, alice: Party, engine: ScriptedEngine) -> Iterator[None]:
    """After every refusal: no stream, no usage, and the next request is unharmed."""
    yield
    assert engine.heard == []
    assert not UsageEvent.objects.exists()
    assert not Reservation.objects.exists()
    url = f"{base}/v1/audio/speech"
    assert httpx.post(url, json=speech(), headers=alice.headers).content == spoken(5)


def refused(
    response: httpx.Response, status: int, code: str, param: str | None, kind: str | None = None
) -> str:
    """Checks OpenAI's error shape, and returns the message."""
    assert response.status_code == status
    assert len(response.headers["x-request-id"]) == 36
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["code"], error["param"]) == (code, param)
    assert error["type"] == (kind or "invalid_request_error")
    return error["message"]


def send(http: httpx.Client, alice: Party, **fields: object) -> httpx.Response:
    return http.post("/v1/audio/speech", json=speech(**fields), headers=alice.headers)


def send_raw(
    http: httpx.Client, alice: Party, body: bytes, content_type: str = "application/json"
) -> httpx.Response:
    headers = {**alice.headers, "Content-Type": content_type}
    return http.post("/v1/audio/speech", content=body, headers=headers)


@pytest.mark.parametrize("text", ["", " ", "\n\t  \u00a0\u3000"])
def test_blank_text(http: httpx.Client, alice: Party, text: str) -> None:
    refused(send(http, alice, text=text), 400, "empty_input", "input")


@pytest.mark.parametrize("text", ["🙂", "👩‍👩‍👧‍👦 🎉", "❤️!!", "…?!", "\u200b\u200d"])
def test_text_with_nothing_to_say(http: httpx.Client, alice: Party, text: str) -> None:
    refused(send(http, alice, text=text), 400, "empty_input", "input")


def test_a_text_of_4097_characters(http: httpx.Client, alice: Party) -> None:
    message = refused(send(http, alice, text="a" * 4097), 400, "string_above_max_length", "input")
    assert message == "The text has 4097 characters; the most is 4096."


def test_a_text_of_100_000_characters(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, text="é" * 100_000), 400, "string_above_max_length", "input")


def test_a_body_of_three_megabytes(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, text="a" * 3_000_000), 413, "request_too_large", None)


def test_a_body_of_three_megabytes_of_unsaid_length(http: httpx.Client, alice: Party) -> None:
    pieces = iter([b'{"input":"', *[b"a" * 100_000] * 30, b'"}'])
    headers = {**alice.headers, "Content-Type": "application/json"}

    response = http.post("/v1/audio/speech", content=pieces, headers=headers)

    refused(response, 413, "request_too_large", None)


def test_an_unknown_voice(http: httpx.Client, alice: Party) -> None:
    message = refused(send(http, alice, voice="zelda"), 400, "unknown_voice", "voice")
    assert "Anna, Ben" in message


def test_an_empty_voice(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, voice=""), 400, "unknown_voice", "voice")


def test_a_voice_of_the_wrong_kind(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, voice=7), 400, "invalid_type", "voice")


def test_a_voice_object_with_more_than_an_id(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, voice={"id": "Anna", "x": 1}), 400, "invalid_type", "voice")


def test_an_unknown_model(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, model="gpt-9"), 404, "model_not_found", "model")


@pytest.mark.parametrize("name", ["ogg", "vorbis", "MP3", ""])
def test_a_format_that_is_not_offered(http: httpx.Client, alice: Party, name: str) -> None:
    refused(send(http, alice, response_format=name), 400, "invalid_value", "response_format")


def test_a_stream_format_that_is_not_offered(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, stream_format="ndjson"), 400, "invalid_value", "stream_format")


@pytest.mark.parametrize("speed", [0.24, 4.01, 0, -1])
def test_a_speed_that_none_could_follow(http: httpx.Client, alice: Party, speed: float) -> None:
    refused(send(http, alice, speed=speed), 400, "invalid_value", "speed")


def test_a_language_the_model_does_not_speak(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, language="klingon"), 400, "invalid_value", "language")


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_range(http: httpx.Client, alice: Party, seed: int) -> None:
    message = refused(send(http, alice, seed=seed), 400, "invalid_value", "seed")
    wanted = "send a whole number from 0 to 9223372036854775807."
    assert message == f"seed {seed} is out of range: {wanted}"


@pytest.mark.parametrize(
    ("seed", "sent"), [(1.5, "a number"), ("7", "text"), (True, "true or false")]
)
def test_a_seed_of_the_wrong_kind(
    http: httpx.Client, alice: Party, seed: object, sent: str
) -> None:
    body = {**speech(), "seed": seed}
    response = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    message = refused(response, 400, "invalid_type", "seed")
    wanted = "send a whole number from 0 to 9223372036854775807"
    assert message == f"seed is {sent}: {wanted}, or leave the field out."


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("input", 7, "input is a number: send text in quotes."),
        ("input", ["a"], "input is a list: send text in quotes."),
        ("speed", "fast", "speed is text: send a number, or leave the field out."),
        ("stream", "no", "stream is text: send true or false, or leave the field out."),
        (
            "voice",
            7,
            'voice is a number: send text in quotes, or an object {"id": text}.',
        ),
    ],
)
def test_a_wrong_type_is_told_in_words(
    http: httpx.Client, alice: Party, field: str, value: object, message: str
) -> None:
    body = {**speech(), field: value}
    response = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    assert refused(response, 400, "invalid_type", field) == message


def test_a_language_that_exists_and_is_not_spoken(http: httpx.Client, alice: Party) -> None:
    message = refused(send(http, alice, language="fr-CA"), 400, "invalid_value", "language")
    assert message == (
        "The model 'scripted-voices' does not speak French: choose one of auto, english, german."
    )


@pytest.mark.parametrize("language", ["de-", "de-\n", "de_DE", "en--us", "de-<b>", "de-äö"])
def test_what_only_begins_like_a_language(http: httpx.Client, alice: Party, language: str) -> None:
    refused(send(http, alice, language=language), 400, "invalid_value", "language")


@pytest.mark.parametrize(
    "model", ["tts-1-20", "tts-1-2025-01-01\n", "tts-1-2025-1-1", "gpt-4o-mini-tts-20<b>"]
)
def test_what_only_begins_like_a_dated_model(http: httpx.Client, alice: Party, model: str) -> None:
    refused(send(http, alice, model=model), 404, "model_not_found", "model")


def test_a_field_name_that_no_database_takes_is_logged_all_the_same(
    http: httpx.Client, alice: Party
) -> None:
    response = send(http, alice, **{"bad\x00name": 1})

    refused(response, 400, "unknown_field", "bad\x00name")
    log = eventually(lambda: RequestLog.objects.filter(pk=response.headers["x-request-id"]).first())
    assert isinstance(log, RequestLog)
    assert (log.error_code, log.error_field) == ("unknown_field", "bad\ufffdname")


def test_instructions_that_are_too_long(http: httpx.Client, alice: Party) -> None:
    response = send(http, alice, instructions="a" * 4097)
    refused(response, 400, "string_above_max_length", "instructions")


def test_two_names_for_the_instructions(http: httpx.Client, alice: Party) -> None:
    response = send(http, alice, instructions="a", instruct="b")
    refused(response, 400, "invalid_value", "instruct")


def test_events_that_should_not_stream(http: httpx.Client, alice: Party) -> None:
    response = send(http, alice, stream=False, stream_format="sse")
    refused(response, 400, "invalid_value", "stream")


def test_an_unknown_field(http: httpx.Client, alice: Party) -> None:
    refused(send(http, alice, pitch=3), 400, "unknown_field", "pitch")


@pytest.mark.parametrize("name", ["model", "input", "voice"])
def test_a_missing_field(http: httpx.Client, alice: Party, name: str) -> None:
    body = {key: value for key, value in speech().items() if key != name}
    response = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    refused(response, 400, "missing_field", name)


@pytest.mark.parametrize("name", ["model", "input", "voice"])
def test_null_is_no_value_for_a_required_field(http: httpx.Client, alice: Party, name: str) -> None:
    body = {**speech(), name: None}
    response = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    message = refused(response, 400, "missing_field", name)
    assert message == f"The field {name} is required: add it."


@pytest.mark.parametrize(
    "body",
    [b"", b"nul", b"{", b'{"input":"a"', b"\xff\xfe", b'{"a":1} x', b'{"seed":NaN}', b"[" * 99_999],
)
def test_wrong_json(http: httpx.Client, alice: Party, body: bytes) -> None:
    refused(send_raw(http, alice, body), 400, "invalid_json", None)


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"7", b"null"])
def test_json_that_is_no_object(http: httpx.Client, alice: Party, body: bytes) -> None:
    refused(send_raw(http, alice, body), 400, "invalid_json", None)


def test_nesting_without_end(http: httpx.Client, alice: Party) -> None:
    refused(send_raw(http, alice, b'{"a":' * 99_999), 400, "invalid_json", None)


@pytest.mark.parametrize("text", [rb"\ud800", rb"\udc00a", b"\xff"])
def test_text_that_is_not_unicode(http: httpx.Client, alice: Party, text: bytes) -> None:
    body = b'{"model":"tts-1","voice":"alloy","input":"Hello ' + text + b'"}'
    response = send_raw(http, alice, body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_json"


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data", "application/jsonx"])
def test_a_wrong_content_type(http: httpx.Client, alice: Party, kind: str) -> None:
    response = send_raw(http, alice, b"{}", kind)
    refused(response, 415, "unsupported_media_type", None)


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_a_wrong_method(http: httpx.Client, alice: Party, method: str) -> None:
    response = http.request(method, "/v1/audio/speech", headers=alice.headers)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    if method != "HEAD":
        refused(response, 405, "method_not_allowed", None)


@pytest.mark.parametrize("path", ["/v1/audio/speech/", "/v1/audio", "/v1/nothing", "/openai/x"])
def test_an_unknown_path(http: httpx.Client, alice: Party, path: str) -> None:
    refused(http.post(path, json=speech(), headers=alice.headers), 404, "unknown_url", None)


def test_an_unknown_host(http: httpx.Client, alice: Party) -> None:
    headers = {**alice.headers, "Host": "evil.example"}
    response = http.post("/v1/audio/speech", json=speech(), headers=headers)
    refused(response, 400, "unknown_host", None)


def test_a_refusal_is_in_the_tenants_log(http: httpx.Client, alice: Party) -> None:
    response = send(http, alice, voice="zelda")

    log = eventually(lambda: RequestLog.objects.filter(pk=response.headers["x-request-id"]).first())
    assert (log.tenant, log.key, log.status) == (alice.tenant, alice.key, 400)
    assert (log.error_code, log.error_field) == ("unknown_voice", "voice")
