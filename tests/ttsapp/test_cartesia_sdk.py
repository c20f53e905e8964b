"""Cartesia's own client, unmodified, against the running server."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pytest
from cartesia import (
    AuthenticationError,
    BadRequestError,
    Cartesia,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
)

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp import cartesia_calls
from tests.ttsapp.cartesia_calls import KATIE, RAW
from tests.ttsapp.conftest import Party
from tests.ttsapp.limited import limit
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.cartesia.dialect import CARTESIA
from ttsapp.errors import ApiError
from ttsapp.keys.services import create_key

SAMPLES_AT_44100 = 44100 * 2 // 5


@pytest.fixture(params=["", "/cartesia"])
def prefix(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def client(base: str, alice: Party, prefix: str) -> Cartesia:
    return connected(base, prefix, api_key=alice.secret)


def connected(base: str, prefix: str, **credentials: Any) -> Cartesia:
    socket = base.replace("http:", "ws:") + prefix
    return Cartesia(base_url=base + prefix, websocket_base_url=socket, **credentials)


def test_generate(client: Cartesia, engine: ScriptedEngine) -> None:
    speech = client.tts.generate(
        model_id="sonic-3",
        transcript="Hello there.",
        voice={"id": KATIE},
        output_format=RAW,
        language="en",
        generation_config={"speed": 1.0, "volume": 1.0, "emotion": "calm"},
    )
    assert speech.read() == spoken(5)
    assert engine.heard[0].start.text == "Hello there."


def test_generate_sse(client: Cartesia, engine: ScriptedEngine) -> None:
    engine.script = Script(tells_words=True)
    told = list(
        client.tts.generate_sse(
            model_id="sonic-3",
            transcript="Hello there.",
            voice=KATIE,
            output_format=RAW,
            add_timestamps=True,
        )
    )
    assert b"".join(one.audio for one in told if one.type == "chunk") == spoken(5)
    assert told[-1].type == "done"
    (words,) = [one for one in told if one.type == "timestamps"]
    assert words.word_timestamps.words == ["Hello", "there."]


def test_websocket_contexts(client: Cartesia) -> None:
    """Two at once, in floats at 44.1 kHz: what the client asks for unless told otherwise."""
    heard: dict[str, bytes] = {"a": b"", "b": b""}
    with client.tts.websocket_connect() as link:
        contexts = [link.context(name, voice=KATIE, timeout=10) for name in heard]
        for text in ("Hello ", "there."):
            for context in contexts:
                context.push(text)
        for context in contexts:
            context.no_more_inputs()
        for context, name in zip(contexts, heard, strict=True):
            for event in context.receive():
                assert event.type in ("chunk", "done")
                if event.type == "chunk":
                    heard[name] += event.audio
    assert [len(np.frombuffer(audio, "<f4")) for audio in heard.values()] == [SAMPLES_AT_44100] * 2
    assert UsageEvent.objects.count() == 2


def test_websocket_settings_for_one_message(client: Cartesia, engine: ScriptedEngine) -> None:
    """The client then ends the context with settings of its own."""
    with client.tts.websocket_connect() as link:
        context = link.context(timeout=10)
        context.send(
            model_id="sonic-2",
            transcript="Hello there.",
            voice={"mode": "id", "id": "Ben"},
            output_format=RAW,
            language=None,
            flush=True,
        )
        context.no_more_inputs()
        told = list(context.receive())
    assert b"".join(one.audio for one in told if one.type == "chunk") == spoken(5)
    assert [one.type for one in told[-2:]] == ["flush_done", "done"]
    assert engine.heard[0].start.voice.preset == "Ben"


def test_websocket_cancel(client: Cartesia, engine: ScriptedEngine) -> None:
    engine.script.hold_after = 1
    with client.tts.websocket_connect() as link:
        context = link.context(voice=KATIE, timeout=10)
        context.push("A long story.", flush=True)
        assert next(iter(context.receive())).type == "chunk"
        context.cancel()
        assert engine.heard[0].ended.wait(10)


def test_websocket_error(client: Cartesia) -> None:
    with client.tts.websocket_connect() as link:
        context = link.context(voice="nobody", timeout=10)
        context.push("Hello.")
        (told,) = context.receive()
    assert (told.type, told.status_code, told.error_code) == ("error", 400, "unknown_voice")


def test_voices_list(client: Cartesia) -> None:
    assert [voice.id for voice in client.voices.list(limit=1)] == ["Anna", "Ben"]
    found = client.voices.get("Ben")
    assert (found.gender, found.language, found.created_at.year) == ("masculine", "en", 1970)


def test_get_status(client: Cartesia, prefix: str) -> None:
    """At the root there are pages, so that it is told under the prefix alone."""
    if prefix:
        assert client.get_status().ok is True


def test_access_token(client: Cartesia, base: str, prefix: str) -> None:
    token = client.access_token.create(grants={"tts": True}, expires_in=60).token
    browser = connected(base, prefix, token=token)
    speech = browser.tts.generate(
        model_id="sonic-3", transcript="Hello there.", voice=KATIE, output_format=RAW
    )
    assert speech.read() == spoken(5)
    with pytest.raises(PermissionDeniedError):
        browser.voices.list()


@pytest.mark.parametrize(
    "limits", [{"requests_per_minute": 1}, {"hard_monthly_characters": 5}], ids=str
)
def test_errors_of_limits(
    http: httpx.Client, base: str, prefix: str, alice: Party, limits: dict[str, int]
) -> None:
    limit(alice, **limits)
    cartesia_calls.say(http, alice, transcript="Hi.")
    with pytest.raises(RateLimitError) as refusal:
        speak(connected(base, prefix, api_key=alice.secret, max_retries=0))
    assert refusal.value.response.headers["content-type"] == "application/json"


def test_errors_of_the_engine(base: str, prefix: str, alice: Party, engine: ScriptedEngine) -> None:
    engine.script.error = pb.Error(code="engine_full", message="full", retryable=True)
    with pytest.raises(InternalServerError) as refusal:
        speak(connected(base, prefix, api_key=alice.secret, max_retries=0))
    assert refusal.value.status_code == 503


def test_errors_of_a_key(base: str, prefix: str, alice: Party) -> None:
    _, secret = create_key(SYSTEM, alice.tenant, "Ben's", allowed_voices=["Ben"])
    with pytest.raises(PermissionDeniedError):
        speak(connected(base, prefix, api_key=secret))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429, 500, 503, 504])
def test_errors_keep_their_status(status: int) -> None:
    assert CARTESIA.render(ApiError(status, "a_code", "A message.")).status == status


def speak(client: Cartesia) -> None:
    client.tts.generate(
        model_id="sonic-3", transcript="Hello there.", voice="Anna", output_format=RAW
    )


def test_errors(client: Cartesia, base: str, prefix: str) -> None:
    with pytest.raises(BadRequestError, match="Unknown voice 'nobody'"):
        client.tts.generate(
            model_id="sonic-3", transcript="Hello.", voice="nobody", output_format=RAW
        )
    with pytest.raises(NotFoundError):
        client.voices.get("nobody")
    with pytest.raises(AuthenticationError):
        connected(base, prefix, api_key="nonsense").voices.list()
