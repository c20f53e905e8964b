"""The real OpenAI client, unmodified, with nothing changed but its base URL."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import httpx2
import openai
import pytest

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import EngineThread, ScriptedEngine, spoken

each_format = pytest.mark.parametrize(
    ("response_format", "content_type", "magic"),
    [
        ("mp3", "audio/mpeg", b"\xff\xf3"),
        ("opus", "audio/opus", b"OggS"),
        ("aac", "audio/aac", b"\xff\xf1"),
        ("flac", "audio/flac", b"fLaC"),
        ("wav", "audio/wav", b"RIFF"),
        ("pcm", "audio/pcm", spoken(1)[:4]),
    ],
)


@pytest.fixture(params=["/v1", "/openai/v1"])
def client(base: str, alice: Party, request: pytest.FixtureRequest) -> Iterator[openai.OpenAI]:
    url = base + request.param
    with openai.OpenAI(base_url=url, api_key=alice.secret, max_retries=0, timeout=10) as client:
        yield client


def say(client: openai.OpenAI, response_format: str = "pcm", **fields: object):
    return client.audio.speech.create(
        model="tts-1",
        voice="alloy",
        input="Hello there.",
        response_format=response_format,
        **fields,
    )


def test_it_works(client: openai.OpenAI) -> None:
    assert say(client).content == spoken(5)


@each_format
def test_each_format_whole(
    client: openai.OpenAI, response_format: str, content_type: str, magic: bytes
) -> None:
    answer = say(client, response_format, extra_body={"stream": False})
    assert answer.response.headers["content-type"] == content_type
    assert answer.content.startswith(magic)


@each_format
def test_each_format_streamed(
    client: openai.OpenAI,
    engine: ScriptedEngine,
    response_format: str,
    content_type: str,
    magic: bytes,
) -> None:
    engine.script.hold_after = 3
    streamed = client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts",
        voice={"id": "Ben"},
        input="Hello there.",
        response_format=response_format,
    )
    with streamed as response:
        assert response.headers["content-type"] == content_type
        pieces = response.iter_bytes()
        first = next(pieces)
        assert not engine.heard[0].ended.is_set()
        engine.release.set()
        rest = list(pieces)
    assert first.startswith(magic)
    assert rest


def test_events(client: openai.OpenAI) -> None:
    content = say(client, stream_format="sse").content
    assert content.startswith(b'data: {"type":"speech.audio.delta"')
    assert b'"type":"speech.audio.done"' in content


def test_the_models_list_and_get(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names == ["scripted-voices", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"]
    assert [client.models.retrieve(name).id for name in names] == names


def test_an_unknown_model_is_not_found(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as refusal:
        client.models.retrieve("gpt-9")
    assert (refusal.value.code, refusal.value.param) == ("model_not_found", "model")


def test_a_refusal_has_its_parts(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refusal:
        client.audio.speech.create(model="tts-1", voice="zelda", input="Hello there.")
    error = refusal.value
    assert (error.code, error.param, error.type) == (
        "unknown_voice",
        "voice",
        "invalid_request_error",
    )
    assert len(error.request_id) == 36


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"json": {}}, 400),
        ({"headers": {}}, 401),
        ({"url": "/v1/models/gpt-9", "method": "GET"}, 404),
        ({"url": "/v1/nothing"}, 404),
        ({"method": "GET"}, 405),
        ({"json": {"input": "a" * 2**21}}, 413),
        ({"json": None, "content": b"x"}, 415),
    ],
)
def test_every_refusal_has_a_request_id(
    http: httpx.Client, alice: Party, how: dict[str, object], status: int
) -> None:
    usual = {"method": "POST", "url": "/v1/audio/speech", "headers": alice.headers, "json": {}}
    answer = http.request(**{**usual, **how})
    assert (answer.status_code, len(answer.headers["x-request-id"])) == (status, 36)


@pytest.mark.parametrize(("code", "status"), [("engine_full", 503), ("internal", 500)])
def test_an_engines_refusal_has_a_request_id(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, code: str, status: int
) -> None:
    engine.script.error = pb.Error(code=code, message="no", retryable=status == 503)
    answer = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
    assert (answer.status_code, len(answer.headers["x-request-id"])) == (status, 36)


def test_a_wrong_key_is_an_authentication_error(base: str, transactional_db: None) -> None:
    with (
        openai.OpenAI(base_url=f"{base}/v1", api_key="sk-wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        say(client)


def test_a_crash_mid_stream_raises_in_the_buffered_call(
    client: openai.OpenAI, engine: ScriptedEngine
) -> None:
    engine.script.error = pb.Error(code="internal", message="the stream failed")
    engine.script.error_after = 2
    with pytest.raises(openai.APIConnectionError):
        say(client)


def test_a_crash_mid_stream_raises_in_the_streaming_call(
    client: openai.OpenAI, engine: ScriptedEngine
) -> None:
    engine.script.error = pb.Error(code="internal", message="the stream failed")
    engine.script.error_after = 2
    streamed = client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input="Hello there.", response_format="pcm"
    )
    with pytest.raises(httpx2.TransportError), streamed as response:
        list(response.iter_bytes())


def test_a_client_that_retries_outlasts_an_engine_that_was_away(
    base: str, alice: Party, engine_thread: EngineThread
) -> None:
    engine_thread.stop()
    url = f"{base}/v1"
    with openai.OpenAI(base_url=url, api_key=alice.secret, max_retries=0) as impatient:
        eventually(lambda: _is_away(impatient))
    with openai.OpenAI(base_url=url, api_key=alice.secret, max_retries=5) as patient:
        engine_thread.start()
        assert say(patient).content == spoken(5)


def test_a_client_gives_up_on_a_long_wait_at_once(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    busy = pb.Error(code="engine_full", message="full", retryable=True, retry_after_ms=300_000)
    engine.script.error = busy
    with (
        openai.OpenAI(base_url=f"{base}/v1", api_key=alice.secret, max_retries=2) as client,
        pytest.raises(openai.InternalServerError) as refusal,
    ):
        say(client)
    assert refusal.value.response.headers["retry-after"] == "300"
    assert len(engine.heard) == 1


def _is_away(client: openai.OpenAI) -> bool:
    try:
        say(client)
    except openai.InternalServerError as error:
        return error.status_code == 503
    return False


def test_the_voices_can_be_listed(base: str, alice: Party) -> None:
    data = httpx.get(f"{base}/v1/audio/voices", headers=alice.headers).json()["data"]

    assert [voice["id"] for voice in data[:2]] == ["Anna", "Ben"]
    assert data[0]["native_language"] == "english"
    aliases = {voice["id"]: voice["alias_of"] for voice in data[2:]}
    assert len(aliases) == 13
    assert (aliases["alloy"], aliases["onyx"]) == ("Anna", "Ben")
