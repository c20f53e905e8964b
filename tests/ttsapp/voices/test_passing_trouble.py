"""What the machine, an engine or an address has no time for is a 503 that says when to come again,
never a fault of what was sent: the same request is taken once the trouble is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import EngineThread, ScriptedEngine, custom_voice_model, pb
from tests.ttsapp.voices import recordings as heard
from tests.ttsapp.voices.conftest import clone, consent, made, speak, stored
from tests.ttsapp.voices.doors import BY_ADDRESS, DOORS, Sent
from ttsapp.engine.errors import ENGINE_BUSY
from ttsapp.errors import ApiError
from ttsapp.voices import kinds, selectors
from ttsapp.voices.clips import decoding, fetching
from ttsapp.voices.models import Consent, Voice

SAMPLE = heard.wav(heard.speech())
# The console answers with its page; the first is OpenAI's.
WAYS = [name for name, door in DOORS.items() if door.codes]
assert WAYS[0] == "openai"
Patch = pytest.MonkeyPatch


def no_time(patch: Patch) -> None:
    """Its reader is not even through its imports."""
    patch.setattr(decoding, "CHILD_SECONDS", 0.0)


def no_turn(patch: Patch) -> None:
    """Others' recordings are read all the while."""
    patch.setattr(decoding, "PATIENCE_SECONDS", 0.0)


def ends(status: int) -> Callable[[Patch], None]:
    async def ended(data: bytes) -> tuple[int, bytes]:
        return status, b""

    return lambda patch: patch.setattr(decoding, "_in_child", ended)


def no_process(patch: Patch) -> None:
    async def refused(data: bytes) -> tuple[int, bytes]:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    patch.setattr(decoding, "_in_child", refused)


READER = {
    "no time": no_time,
    "no turn": no_turn,
    "no process": no_process,
    "killed": ends(-9),
    "stopped": ends(-15),
    "never begun": ends(1),
}


@pytest.mark.parametrize(
    ("trouble", "way"),
    [*((trouble, "openai") for trouble in READER), *(("no time", way) for way in WAYS[1:])],
)
def test_a_recording_that_could_not_be_read_now(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    store: Path,
    monkeypatch: Patch,
    trouble: str,
    way: str,
) -> None:
    sent = Sent(http, alice, consent(http, alice), SAMPLE)
    with monkeypatch.context() as patch:
        READER[trouble](patch)
        status, code, message = DOORS[way].send(sent)

    assert (status, code) == (503, "reader_unavailable")
    assert DOORS[way].recording in message
    assert "send it again" in message
    assert (cloning.encoded, stored(store), Voice.objects.count()) == ([], ["evidence"], 0)
    assert DOORS[way].send(sent)[0] == 200


@pytest.mark.parametrize("status", [-11, -7, -8, -6, -24])
def test_a_recording_that_breaks_its_reader_is_at_fault(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, monkeypatch: Patch, status: int
) -> None:
    ends(status)(monkeypatch)
    answer = clone(http, alice, consent=consent(http, alice))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "not_audio")


def test_when_to_come_again_is_said(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, monkeypatch: Patch
) -> None:
    no_time(monkeypatch)
    answer = clone(http, alice, consent=consent(http, alice))
    assert (answer.headers["retry-after"], answer.headers["retry-after-ms"]) == ("2", "2000")
    assert answer.json()["error"]["type"] == "server_error"


def test_a_statement_that_could_not_be_read_now_is_no_consent(
    http: httpx.Client, engine: ScriptedEngine, alice: Party, store: Path, monkeypatch: Patch
) -> None:
    no_time(monkeypatch)
    files = {"recording": ("agrees.wav", SAMPLE)}
    answer = http.post(
        "/v1/audio/voice_consents", data={"name": "Ann"}, files=files, headers=alice.headers
    )
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert (stored(store), Consent.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("code", "way"),
    [
        *((code, "openai") for code in sorted(ENGINE_BUSY - {"engine_unavailable"})),
        *(("engine_full", way) for way in WAYS[1:]),
    ],
)
def test_an_engine_that_takes_no_voice_now(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, code: str, way: str
) -> None:
    sent = Sent(http, alice, consent(http, alice), SAMPLE)
    cloning.encode_refusal = code
    status, told, _ = DOORS[way].send(sent)
    # ElevenLabs' own word.
    expected = "system_busy" if (code, way) == ("engine_full", "elevenlabs") else code
    assert (status, told) == (503, expected)
    assert (stored(store), Voice.objects.count()) == (["evidence"], 0)
    cloning.encode_refusal = ""
    assert DOORS[way].send(sent)[0] == 200


def test_another_recording_for_a_voice_waits_for_the_engine_too(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    cloning.encode_refusal = "engine_full"
    answer = http.post(
        f"/v1/voices/{voice}/edit",
        data={"name": "Ann"},
        files={"files": SAMPLE},
        headers=alice.headers,
    )
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert Voice.objects.get().versions.count() == 1


def test_an_engine_that_is_lost_on_the_way(
    http: httpx.Client, cloning: ScriptedEngine, engine_thread: EngineThread, alice: Party
) -> None:
    """Given what it serves is known, when it is gone."""
    allowed = consent(http, alice)
    assert speak(http, alice, "Anna").status_code == 200
    engine_thread.stop()
    answer = clone(http, alice, consent=allowed)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"]["code"] == "engine_unavailable"
    engine_thread.start()
    eventually(lambda: clone(http, alice, consent=allowed).status_code == 200)


def test_an_engine_that_serves_another_model_by_now(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    """The model was chosen here: its refusal is no fault of a recording."""
    cloning.encode_refusal, cloning.refused_field = "invalid_request", "model"
    answer = clone(http, alice, consent=consent(http, alice))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"]["code"] == "engine_unavailable"


@pytest.mark.parametrize(("field", "param"), [("pcm", "audio_sample"), ("text", "ref_text")])
def test_what_the_engine_refuses_is_named_as_it_was_sent(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, field: str, param: str
) -> None:
    cloning.encode_refusal, cloning.refused_field = "invalid_request", field
    answer = clone(http, alice, consent=consent(http, alice))
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, param, "invalid_value")


def test_what_a_designed_voice_makes_is_nobodys_recording(
    http: httpx.Client, three: ScriptedEngine, alice: Party, store: Path
) -> None:
    """Given one whose sound the engine will not hear."""
    three.script.chunks = 20
    three.encode_refusal, three.refused_field = "invalid_request", "pcm"
    answer = designed(http, alice)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"]["code"] == "no_audio"
    assert (stored(store), Voice.objects.count()) == ([], 0)


# ---- an engine that is away, of which nobody else serves the model


@dataclass
class Known:
    """What a process knows of an engine."""

    target: str
    served: list[pb.Model] = field(default_factory=list)


@dataclass
class Fleet:
    engines: tuple[Known, ...]

    async def models(self) -> list[pb.Model]:
        return [model for engine in self.engines for model in engine.served]


@pytest.fixture
def one_away(engine: ScriptedEngine, monkeypatch: Patch) -> Fleet:
    """Presets are served; what the other engine has, it has not said yet."""
    fleet = Fleet((Known("one", [custom_voice_model()]), Known("two")))
    monkeypatch.setattr(selectors, "client", lambda: fleet)
    return fleet


def designed(http: httpx.Client, party: Party) -> httpx.Response:
    body = {"name": "Old sailor", "type": "prompt", "prompt": "A hoarse old man"}
    return http.post("/v1/audio/voices", json=body, headers=party.headers)


def asked(**fields: object) -> Callable[[httpx.Client, Party], httpx.Response]:
    return lambda http, party: http.post(
        "/v1/audio/speech", json=speech(**fields), headers=party.headers
    )


LACKING = {
    "a clone": (
        lambda http, party: clone(http, party, consent=consent(http, party)),
        "cloning_not_served",
    ),
    "a design": (designed, "design_not_served"),
    "a task": (asked(task_type="Base"), "task_not_served"),
    "a description": (
        asked(task_type="VoiceDesign", voice=..., instructions="Warm."),
        "task_not_served",
    ),
    "a model": (asked(model="qwen3-base"), "model_not_found"),
    "a voice": (asked(voice="oscar"), "unknown_voice"),
}


@pytest.mark.parametrize("what", LACKING)
def test_what_an_engine_may_have_that_is_away(
    http: httpx.Client, one_away: Fleet, alice: Party, store: Path, what: str
) -> None:
    ask, _ = LACKING[what]
    answer = ask(http, alice)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"]["code"] == "engine_unavailable"
    assert Voice.objects.count() == 0
    assert speak(http, alice, "Anna").status_code == 200


@pytest.mark.parametrize("what", LACKING)
def test_what_no_engine_has_where_none_is_away(
    http: httpx.Client, one_away: Fleet, alice: Party, store: Path, what: str
) -> None:
    one_away.engines[1].served = [custom_voice_model()]
    ask, code = LACKING[what]
    answer = ask(http, alice)
    assert answer.status_code == (404 if what == "a model" else 400)
    assert answer.json()["error"]["code"] == code


async def test_a_replica_that_is_away_is_not_missed(one_away: Fleet) -> None:
    """Given both have told what they serve, when one is away whose model the other has too."""
    memory = selectors._Memory()
    one_away.engines[1].served = [custom_voice_model()]
    assert not (await memory.renew()).lacks_some
    one_away.engines[1].served = []
    assert not (await memory.renew()).lacks_some


async def test_an_engine_that_is_away_with_its_model_is_missed_until_it_is_back(
    one_away: Fleet,
) -> None:
    memory = selectors._Memory()
    base = pb.Model(id="base", kind="base", can_encode_voice=True)
    found = []
    for served in ([base], [], [base]):
        one_away.engines[1].served = served
        catalogue = await memory.renew()
        found.append((catalogue.lacks_some, [model.id for model in catalogue.models]))
    both = ["scripted-voices", "base"]
    assert found == [(False, both), (True, both[:1]), (False, both)]


async def test_a_usual_name_is_not_described_while_presets_are_away(one_away: Fleet) -> None:
    """Given only the model that speaks as described is there, when a preset is asked for."""
    design = pb.Model(id="design", kind="voice_design", languages=["english"])
    one_away.engines[0].served, one_away.engines[1].served = [design], []
    served = await selectors._Memory().renew()
    with pytest.raises(ApiError) as refused:
        kinds.speaker(served, served.model("tts-1"), "alloy", "", "Slowly.")
    assert (refused.value.status, refused.value.code) == (503, "engine_unavailable")


# ---- an address that is named


BROKEN_OFF = {"headers": {"Content-Length": "1000"}, "body": b"half of it"}


@pytest.mark.parametrize(
    ("given", "way"),
    [
        *(({"status": status}, BY_ADDRESS[0]) for status in (408, 425, 429, 500, 502, 503, 504)),
        *((BROKEN_OFF, way) for way in BY_ADDRESS),
    ],
)
def test_an_address_that_does_not_answer_now(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    store: Path,
    elsewhere: dict[str, Any],
    given: dict[str, Any],
    way: str,
) -> None:
    elsewhere.update(given)
    sent = Sent(http, alice, consent(http, alice), address="https://example.com/ann.wav")
    status, code, message = DOORS[way].send(sent)
    assert (status, code) == (503, "address_timeout")
    assert DOORS[way].recording in message
    assert (cloning.encoded, stored(store)) == ([], ["evidence"])
    elsewhere.update({"status": 200, "headers": {}, "body": SAMPLE})
    assert DOORS[way].send(sent)[0] == 200


def test_an_address_that_waits_behind_others(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    elsewhere: dict[str, Any],
    monkeypatch: Patch,
) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 0.0)
    body = {"name": "Ann", "consent": consent(http, alice), "ref_audio": "https://example.com/a"}
    answer = http.post("/v1/audio/voices", json=body, headers=alice.headers)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["error"]["code"] == "address_timeout"
