"""ElevenLabs' dialect over HTTP: the four calls that speak."""

from __future__ import annotations

import base64
import json

import httpx
import pytest

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.dialects.elevenlabs import alignment
from ttsapp.dialects.elevenlabs.formats import FORMATS
from ttsapp.keys import tokens
from ttsapp.keys.tokens import Scope
from ttsapp.speech.events import Word
from ttsapp.speech.models import RequestLog

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


def refused(response: httpx.Response, status: int, code: str) -> str:
    assert response.status_code == status, response.text
    detail = response.json()["detail"]
    assert detail["status"] == code
    assert response.headers["request-id"]
    return detail["message"]


def audio_of(call: str, response: httpx.Response) -> bytes:
    if "timestamps" not in call:
        return response.content
    lines = [json.loads(line) for line in response.text.splitlines() if line]
    return b"".join(base64.b64decode(line["audio_base64"]) for line in lines)


@pytest.mark.parametrize("call", CALLS)
def test_it_works(http: httpx.Client, alice: Party, engine: ScriptedEngine, call: str) -> None:
    answer = say(http, alice, call)
    assert answer.status_code == 200
    assert audio_of(call, answer) == spoken(5)
    assert engine.heard[0].start.text == "Hello there."
    event = UsageEvent.objects.get()
    assert (event.tenant_id, event.billed_characters) == (alice.tenant.id, 12)
    assert str(event.id) == answer.headers["history-item-id"]


@pytest.mark.parametrize("call", CALLS)
def test_a_body_of_text_alone(http: httpx.Client, alice: Party, call: str) -> None:
    """Frames of mp3 begin with eleven set bits."""
    answer = say(http, alice, call, output_format="")
    assert answer.status_code == 200
    assert audio_of(call, answer).startswith(b"\xff")


@pytest.mark.parametrize("prefix", ["", "/elevenlabs"])
@pytest.mark.parametrize("voice", [RACHEL, "Rachel", "bella", "Anna", "alloy"])
def test_voices(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, prefix: str, voice: str
) -> None:
    path = f"{prefix}/v1/text-to-speech/{voice}"
    assert http.post(path, json={"text": "Hi."}, headers=xi(alice)).status_code == 200
    assert engine.heard[0].start.voice.preset == "Anna"


def test_a_mans_voice(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    assert say(http, alice, voice=ADAM).status_code == 200
    assert engine.heard[0].start.voice.preset == "Ben"


@pytest.mark.parametrize("model", ["eleven_multilingual_v2", "eleven_flash_v2_5", "tts-1"])
def test_models(http: httpx.Client, alice: Party, engine: ScriptedEngine, model: str) -> None:
    assert say(http, alice, model_id=model).status_code == 200
    assert engine.heard[0].start.model == "scripted-voices"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_output_format_is_audio(http: httpx.Client, alice: Party, name: str) -> None:
    answer = say(http, alice, output_format=name)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("audio/")
    beginnings = {"wav": b"RIFF", "opu": b"OggS", "mp3": b"\xff"}
    assert answer.content.startswith(beginnings.get(name[:3], b""))


@pytest.mark.parametrize(
    ("name", "size"), [("pcm_8000", 6400), ("ulaw_8000", 3200), ("pcm_48000", 38_400)]
)
def test_sizes(http: httpx.Client, alice: Party, name: str, size: int) -> None:
    """400 ms each."""
    answer = say(http, alice, output_format=name)
    assert len(answer.content) == size
    if name == "ulaw_8000":
        assert answer.headers["content-type"] == "audio/basic"


def test_headers_that_pages_may_read(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice)
    assert answer.headers["character-cost"] == "12"
    assert answer.headers["request-id"] == answer.headers["x-trace-id"]
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"request-id", "character-cost", "history-item-id"} <= set(exposed)


def test_a_browser_asks_first(http: httpx.Client) -> None:
    headers = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
    answer = http.options(f"/v1/text-to-speech/{RACHEL}", headers=headers)
    assert (answer.status_code, answer.content) == (204, b"")
    assert "xi-api-key" in answer.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"


def test_without_an_aligner_there_is_no_alignment(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, "/with-timestamps").json()
    assert set(answer) == {"audio_base64", "alignment", "normalized_alignment"}
    assert answer["alignment"] is None
    assert answer["normalized_alignment"] is None


def test_lines_come_as_they_are_made(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(hold_after=1)
    path = f"/v1/text-to-speech/{RACHEL}/stream/with-timestamps?output_format=pcm_24000"
    with http.stream("POST", path, json={"text": "Hello."}, headers=xi(alice)) as answer:
        lines = answer.iter_lines()
        first = json.loads(next(lines))
        engine.release.set()
        rest = [json.loads(line) for line in lines if line]
    assert base64.b64decode(first["audio_base64"]) == spoken(1)
    assert len(rest) == 4


def test_alignment_of_words() -> None:
    """Three arrays of the same length, every word followed by a blank, at half the speed."""
    words = [Word("Hi", 100, 300), Word("you.", 300, 700)]
    found = alignment.in_seconds(words, 0.5)
    assert found == {
        "characters": ["H", "i", " ", "y", "o", "u", ".", " "],
        "character_start_times_seconds": [0.2, 0.4, 0.6, 0.6, 0.8, 1.0, 1.2, 1.4],
        "character_end_times_seconds": [0.4, 0.6, 0.6, 0.8, 1.0, 1.2, 1.4, 1.4],
    }


def test_alignment_of_messages_begins_anew() -> None:
    clock = alignment.MessageClock(1.0)
    assert clock.alignment([Word("Hi", 100, 300)]) == {
        "chars": ["H", "i", " "],
        "charStartTimesMs": [100, 200, 300],
        "charDurationsMs": [100, 100, 0],
    }
    second = clock.alignment([Word("Yo", 350, 450)])
    assert second is not None
    assert second["charStartTimesMs"] == [50, 100, 150]
    assert clock.alignment([]) is None


def test_settings(http: httpx.Client, alice: Party) -> None:
    """Twice as fast is half as long; the rest has no effect."""
    settings = {"stability": 0.3, "similarity_boost": 1.1, "style": 0, "speed": 2.0}
    answer = say(http, alice, text="Hello there.", voice_settings=settings)
    assert 0.4 < len(answer.content) / len(spoken(5)) < 0.6


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
    assert message in refused(answer, 404 if code == "model_not_found" else 400, code)
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
    assert "API key" in refused(answer, 401, "invalid_api_key")
    assert engine.heard == []


def test_the_wrong_method(http: httpx.Client, alice: Party) -> None:
    answer = http.get(f"/v1/text-to-speech/{RACHEL}", headers=xi(alice))
    refused(answer, 405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/elevenlabs/v1/music", "/v1/text-to-speech/x/y/z"])
def test_another_address(http: httpx.Client, alice: Party, path: str) -> None:
    answer = http.get(path, headers=xi(alice))
    assert (answer.status_code, answer.json()["detail"]["status"]) == (404, "unknown_url")


def test_an_access_token_may_speak(http: httpx.Client, alice: Party) -> None:
    headers = {"xi-api-key": tokens.mint(alice.key.public_id, Scope.SPEECH, 60)}
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


def test_usage_stays_with_its_tenant(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        assert say(http, party, text=text).status_code == 200
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()
