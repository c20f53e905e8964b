"""A request's page says how to have the same audio again: what it says reaches the engine as what
was logged did."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from typing import Any
from uuid import UUID

import httpx
import pytest

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.test_api import managing
from ttsapp import recent
from ttsapp.audit.services import SYSTEM
from ttsapp.lexicon.services import add_word
from ttsapp.speech import texts
from ttsapp.speech.models import RequestLog

ALL = {
    "voice": "Ben",
    "language": "english",
    "instructions": "Slowly; don't shout.",
    "speed": 1.5,
    "seed": 7,
    "response_format": "mp3",
    "sample_rate": 16_000,
    "bit_rate": 48_000,
    "max_new_tokens": 300,
    "trim_silence": False,
    "lead_silence_ms": 80,
    "initial_codec_chunk_frames": 4,
    "apply_text_normalization": "on",
    "enable_ssml_parsing": "pauses",
    "stream": False,
}


@pytest.fixture(autouse=True)
def looked_up_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "FRESH_SECONDS", 0.0)


def logged(answer: httpx.Response) -> UUID:
    assert answer.status_code == 200, answer.text
    wanted = UUID(answer.headers["x-request-id"])
    eventually(lambda: RequestLog.objects.filter(pk=wanted).exists())
    return wanted


def spoken(http: httpx.Client, party: Party, **fields: object) -> httpx.Response:
    return http.post("/v1/audio/speech", json=speech(**fields), headers=party.headers)


def page_of(base: str, request: UUID, *, reads: bool = False) -> str:
    where = f"/console/alice/requests/{request}"
    with browser(base, "alice") as page:
        answer = page.post(f"{where}/text") if reads else page.get(where)
    assert answer.status_code == 200
    return answer.text


def told(page: str) -> dict[str, Any]:
    """The body that its command sends."""
    command = re.search(r"<code>(curl -sS --fail .*?)</code>", page, re.DOTALL)
    assert command is not None
    words = shlex.split(unescape(command[1]).replace("\\\n", " "))
    return json.loads(words[words.index("-d") + 1])


def same(engine: ScriptedEngine, streams: int = 1) -> None:
    """The last so many streams were asked for as those before them, but for the request."""
    asked = [pb.Start.FromString(heard.start.SerializeToString()) for heard in engine.heard]
    for start in asked:
        start.request_id = ""
    assert asked[-streams:] == asked[-2 * streams : -streams]


def test_all_that_decides_it(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    texts.keep_texts(SYSTEM, alice.tenant, 1)
    made = spoken(http, alice, text="It's 42 [pause 200ms] now.", **ALL)
    page = page_of(base, logged(made), reads=True)
    body = told(page)
    assert "It may sound otherwise" not in page
    again = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    assert again.content == made.content
    assert again.headers["content-type"] == made.headers["content-type"]
    same(engine, streams=2)
    told_back = {name: body[name] for name in ALL}
    assert told_back == ALL
    for shown in ("Slowly; don&#x27;t shout.", "<dt>Speed</dt>", "<dt>Numbers in words</dt>"):
        assert shown in page


def test_what_is_as_usual_is_left_out(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    request = logged(spoken(http, alice, voice="Anna", seed=3, response_format="pcm"))
    assert told(page_of(base, request)) == {
        "model": "scripted-voices",
        "voice": "Anna",
        "seed": 3,
        "response_format": "pcm",
        "input": "…",
    }


def test_a_word_that_was_added_since_is_not_said(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    request = logged(spoken(http, alice, text="Hello SQL.", seed=3))
    add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    body = told(page_of(base, request)) | {"input": "Hello SQL."}
    logged(http.post("/v1/audio/speech", json=body, headers=alice.headers))
    same(engine)


def test_a_word_that_was_changed_since(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    request = logged(spoken(http, alice, text="Hello SQL.", seed=3))
    add_word(SYSTEM, alice.tenant, "nginx", "engine x")
    assert "Your pronunciations have changed since then." in page_of(base, request)


def test_weights_that_have_changed_since(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    request = logged(spoken(http, alice, seed=3))
    row = RequestLog.objects.get(pk=request)
    assert row.asked is not None
    now = engine.models[0].fingerprint.encode()
    other = bytes(row.asked).replace(now, b"x" * len(now))
    RequestLog.objects.filter(pk=request).update(asked=other)
    assert "Its model has other weights since then." in page_of(base, request)


def test_what_another_api_asked_for(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    """ElevenLabs' call, as OpenAI's."""
    sent = {"text": "Hello there.", "seed": 5, "voice_settings": {"speed": 1.1}}
    made = http.post(
        "/v1/text-to-speech/Ben?output_format=pcm_16000",
        json=sent,
        headers={"xi-api-key": alice.secret},
    )
    body = told(page_of(base, logged(made))) | {"input": "Hello there."}
    again = http.post("/v1/audio/speech", json=body, headers=alice.headers)
    assert again.content == made.content
    same(engine)


def test_what_an_earlier_version_logged(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    request = logged(spoken(http, alice, seed=3))
    RequestLog.objects.filter(pk=request).update(asked=None)
    page = page_of(base, request)
    assert "Its settings were not kept" in page
    assert "seed 3 are known" in page


def test_the_api_tells_the_settings(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    request = logged(spoken(http, alice, **ALL))
    headers = {"Authorization": f"Bearer {managing(alice)}"}
    settings = http.get(f"/api/tenants/alice/requests/{request}", headers=headers).json()[
        "settings"
    ]
    assert (settings["speed"], settings["has_instructions"]) == (1.5, True)
    assert "Slowly" not in str(settings)
