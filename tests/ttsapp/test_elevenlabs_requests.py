"""What ElevenLabs' calls take, and what they refuse."""

from __future__ import annotations

import httpx
import pytest

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.elevenlabs_calls import (
    CALLS,
    RACHEL,
    refused,
    say,
    xi,
)
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from tests.ttsapp.test_tokens import mark
from ttsapp.keys import tokens
from ttsapp.keys.tokens import Scope
from ttsapp.speech.models import RequestLog


def test_settings(http: httpx.Client, alice: Party) -> None:
    """Twice as fast is half as long; the rest has no effect."""
    settings = {"stability": 0.3, "similarity_boost": 1.1, "style": 0, "speed": 2.0}
    answer = say(http, alice, text="Hello there.", voice_settings=settings)
    assert 0.4 < len(answer.content) / len(spoken(5)) < 0.6


def test_a_break_is_a_pause(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    """As its clients write it; it is not read aloud, and costs nothing."""
    answer = say(http, alice, text='Wait. <break time="1.0s" /> Go.')
    assert answer.content == spoken(5) + bytes(48_000) + spoken(5)
    assert [stream.text.strip() for stream in engine.heard] == ["Wait.", "Go."]
    assert answer.headers["character-cost"] == "10"


def test_what_the_engine_has_no_use_for(http: httpx.Client, alice: Party) -> None:
    answer = say(
        http,
        alice,
        previous_text="Before.",
        next_text="After.",
        previous_request_ids=["x"],
        use_pvc_as_ivc=False,
        apply_text_normalization="auto",
        apply_language_text_normalization=False,
        audio_effects={"distance": 1},
        pronunciation_dictionary_locators=[],
        voice_settings=None,
        language_code=None,
    )
    assert answer.status_code == 200


def test_language_and_seed(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    assert say(http, alice, language_code="de", seed=4_294_967_295).status_code == 200
    start = engine.heard[0].start
    assert (start.language, start.seed) == ("german", 4_294_967_295)


def test_normalised_text(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    answer = say(http, alice, text="It costs $5.", apply_text_normalization="on")
    assert answer.status_code == 200
    assert engine.heard[0].start.text == "It costs five dollars."


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"voice": "nobody"}, "voice_not_found", "Unknown voice 'nobody'"),
        ({"model_id": "aura"}, "model_not_found", "The model 'aura' does not exist"),
        ({"output_format": "mp3_1"}, "invalid_value", "output_format 'mp3_1' is not offered"),
        ({"language_code": "xx"}, "invalid_value", "Unknown language 'xx'"),
        ({"seed": 4_294_967_296}, "invalid_value", "seed 4294967296 is out of range"),
        ({"voices": 1}, "unknown_field", "Unknown field 'voices'"),
        ({"voice_settings": {"speed": 9}}, "invalid_value", "voice_settings.speed may be"),
        ({"voice_settings": {"pitch": 1}}, "unknown_field", "'voice_settings.pitch'"),
        ({"voice_settings": []}, "invalid_type", "voice_settings is not a JSON object"),
        ({"text": 5}, "invalid_type", "text is a number"),
        ({"text": " "}, "empty_input", "There is nothing to say"),
        ({"text": "x" * 5000}, "max_character_limit_exceeded", "5000 characters"),
        ({"apply_text_normalization": "yes"}, "invalid_value", "'yes' is not offered"),
        ({"pronunciation_dictionary_locators": [{}]}, "invalid_value", "no pronunciation dict"),
    ],
)
def test_bad_requests(
    http: httpx.Client,
    alice: Party,
    engine: ScriptedEngine,
    fields: dict,
    code: str,
    message: str,
) -> None:
    answer = say(http, alice, **fields)
    assert message in refused(answer, 404 if code == "model_not_found" else 400, code)["message"]
    assert engine.heard == []
    eventually(lambda: RequestLog.objects.filter(tenant=alice.tenant).count() == 1)


@pytest.mark.parametrize("query", ["speed=1", "enable_logging=maybe"])
def test_bad_query(http: httpx.Client, alice: Party, query: str) -> None:
    answer = http.post(
        f"/v1/text-to-speech/{RACHEL}?{query}", json={"text": "Hi."}, headers=xi(alice)
    )
    assert answer.status_code == 400
    assert answer.json()["detail"]["param"] == query.partition("=")[0]


def test_a_form(http: httpx.Client, alice: Party) -> None:
    answer = http.post(f"/v1/text-to-speech/{RACHEL}", data={"text": "Hi."}, headers=xi(alice))
    refused(answer, 415, "unsupported_media_type")


def test_errors_have_status_and_message(http: httpx.Client, engine: ScriptedEngine) -> None:
    answer = http.post(f"/v1/text-to-speech/{RACHEL}", json={"text": "Hi."})
    assert "API key" in refused(answer, 401, "invalid_api_key")["message"]
    assert engine.heard == []


def test_the_wrong_method(http: httpx.Client, alice: Party) -> None:
    answer = http.get(f"/v1/text-to-speech/{RACHEL}", headers=xi(alice))
    refused(answer, 405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/elevenlabs/v1/music", "/v1/text-to-speech/x/y/z"])
def test_another_address(http: httpx.Client, alice: Party, path: str) -> None:
    answer = http.get(path, headers=xi(alice))
    assert (answer.status_code, answer.json()["detail"]["status"]) == (404, "unknown_url")


def test_an_access_token_may_speak(http: httpx.Client, alice: Party) -> None:
    headers = {"xi-api-key": tokens.mint(alice.key.public_id, mark(alice), Scope.SPEECH, 60)}
    body, path = {"text": "Hi."}, f"/v1/text-to-speech/{RACHEL}"
    assert http.post(path, json=body, headers=headers).status_code == 200
    refused(http.get("/v1/user", headers=headers), 403, "token_out_of_scope")


def test_a_full_engine(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    error = pb.Error(code="engine_full", message="full", retryable=True, retry_after_ms=1500)
    engine.script = Script(error=error)
    answer = say(http, alice)
    refused(answer, 503, "system_busy")
    assert answer.headers["Retry-After"] == "2"


@pytest.mark.parametrize("call", CALLS)
def test_a_broken_engine(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, call: str
) -> None:
    """What is streamed breaks off, what is whole is refused."""
    engine.script = Script(error=pb.Error(code="internal", message="no"), error_after=1)
    if call.startswith("/stream"):
        with pytest.raises(httpx.RemoteProtocolError):
            say(http, alice, call)
    else:
        refused(say(http, alice, call), 500, "internal")
    event = eventually(lambda: UsageEvent.objects.first())
    assert event.billed_characters == 0
