"""Bad input over HTTP, in every dialect: refused in its own shape, the field named, nothing spoken
or charged, and the next request unharmed."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable

import httpx
import pytest

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.http_calls import CALLS, Call
from tests.ttsapp.scripted_engine import Script, ScriptedEngine

Refused = Callable[..., None]

# What ElevenLabs' clients look for in place of our own codes.
OURS = {
    "max_character_limit_exceeded": "string_above_max_length",
    "voice_not_found": "unknown_voice",
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def those(is_one: Callable[[Call], object]) -> pytest.MarkDecorator:
    found = {name: call for name, call in CALLS.items() if is_one(call)}
    return pytest.mark.parametrize("call", found.values(), ids=found)


def last_part(place: str) -> str:
    return place.rpartition(".")[2]


@pytest.fixture
def refused(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> Refused:
    """Sends it, and looks at all that must not have happened."""

    def check(call: Call, content: bytes, status: int, code: str, field: str = "") -> None:
        answer = call.send(http, alice, content)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
        told, named = call.told(answer.json())
        exact = told.rpartition(".")[2]
        assert OURS.get(exact, exact).replace("_", "").lower() == code.replace("_", "")
        assert field in named
        assert engine.heard == []
        assert not UsageEvent.objects.exists()
        assert not Reservation.objects.exists()
        assert call.send(http, alice, call.content()).status_code == 200

    return check


@every_call
@pytest.mark.parametrize("text", ["", " \n\t\u3000", "😀 👍🏽 👨‍👩‍👧", "…?!"])
def test_nothing_to_say(refused: Refused, call: Call, text: str) -> None:
    refused(call, call.content(call.text, text), 400, "empty_input", call.text)


@every_call
def test_two_megabytes_of_text(refused: Refused, call: Call) -> None:
    text = "a" * 2_000_000
    refused(call, call.content(call.text, text), 400, "string_above_max_length", call.text)


@every_call
def test_a_body_beyond_all(refused: Refused, call: Call) -> None:
    refused(call, call.content(call.text, "a" * 2**21), 413, "request_too_large")


@every_call
@pytest.mark.parametrize("text", [7, ["Hello."], True])
def test_text_of_the_wrong_type(refused: Refused, call: Call, text: object) -> None:
    refused(call, call.content(call.text, text), 400, "invalid_type", call.text)


@every_call
def test_no_json(refused: Refused, call: Call) -> None:
    refused(call, call.content()[:-1], 400, "invalid_json")


# DashScope's clients send fields of their own there.
@those(lambda call: "dashscope" not in call.told.__name__)
def test_an_unknown_field(refused: Refused, call: Call) -> None:
    refused(call, call.content("pitchy", 1), 400, "unknown_field", "pitchy")


@those(lambda call: call.voice)
def test_an_unknown_voice(refused: Refused, call: Call) -> None:
    refused(call, call.content(call.voice, "zelda"), 400, "unknown_voice", call.voice)


@those(lambda call: call.language)
def test_an_unknown_language(refused: Refused, call: Call) -> None:
    wanted = ["klingon"] if call.language.endswith("hints") else "klingon"
    content = call.content(call.language, wanted)
    refused(call, content, 400, "invalid_value", last_part(call.language))


@those(lambda call: call.language)
def test_a_text_in_no_language_of_the_model(refused: Refused, call: Call) -> None:
    content = call.content(call.text, "Привет всем.")
    refused(call, content, 400, "invalid_value", last_part(call.language))


# Where tags are not taken, they are text.
@those(lambda call: call.told.__name__ in ("elevenlabs", "cartesia"))
@pytest.mark.parametrize("tag", ['<break tim="1s"/>', '<break time="soon"/>', '<break time="1m"/>'])
def test_a_bad_tag(refused: Refused, call: Call, tag: str) -> None:
    refused(call, call.content(call.text, f"Wait {tag} now."), 400, "invalid_markup", call.text)


@those(lambda call: call.told.__name__ == "openai")
def test_bad_ssml(refused: Refused, call: Call) -> None:
    body = json.loads(call.content(call.text, "<speak>Wait <break/> now.</speek>"))
    content = json.dumps({**body, "enable_ssml_parsing": True}).encode()
    refused(call, content, 400, "invalid_markup", call.text)


@every_call
def test_a_client_that_leaves_frees_the_engine(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, call: Call
) -> None:
    engine.script = Script(hold_after=2)
    content = call.content()
    head = [f"POST {call.path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(content)}"]
    sent = {**alice.headers, **call.headers, "Content-Type": "application/json"}
    head += [f"{name}: {value}" for name, value in sent.items()]
    address = (http.base_url.host, http.base_url.port)
    with socket.create_connection(address, timeout=20) as client:
        client.sendall("\r\n".join([*head, "", ""]).encode() + content)
        assert engine.wait_for_stream().reached.wait(10)
    assert engine.heard[0].ended.wait(10)
    event = eventually(UsageEvent.objects.first)
    assert (event.tenant_id, event.outcome) == (alice.tenant.id, "cancelled")
    assert event.billed_characters < event.characters
    assert not Reservation.objects.exists()
    engine.script = Script()
    assert call.send(http, alice, call.content()).status_code == 200
