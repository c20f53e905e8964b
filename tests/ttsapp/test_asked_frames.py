"""`max_new_tokens` and `initial_codec_chunk_frames`, and the fields that would clone somebody."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.scheduler import RAMPS
from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.dialects.openai import uncloned
from ttsapp.speech import asked_frames

# Three parts, each of them longer than half a part may be.
LONG = " ".join(f"{word} {'and so on ' * 8}to its end." for word in ("One", "Two", "Three"))


def say(http: httpx.Client, party: Party, text: str = "Hello there.", **fields: Any):
    asked = speech(text, **{"stream": False, **fields})
    return http.post("/v1/audio/speech", json=asked, headers=party.headers)


def test_an_answer_has_no_more_frames_than_were_asked_for(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    answer = say(http, alice, max_new_tokens=3)

    assert engine.heard[0].start.max_frames == 3
    assert answer.content == spoken(3)
    assert answer.headers["x-finish-reason"] == "length"
    event = UsageEvent.objects.get()
    assert (event.outcome, event.frames, event.billed_characters) == ("completed", 3, 12)


def test_the_parts_of_a_long_text_share_them(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    answer = say(http, alice, LONG, max_new_tokens=8)

    assert [heard.start.max_frames for heard in engine.heard] == [8, 3]
    assert answer.content == spoken(5) + spoken(3)
    assert answer.headers["x-finish-reason"] == "length"


def test_a_text_that_ends_with_a_part_and_the_last_frame_is_cut_where_more_was_to_come(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    answer = say(http, alice, LONG, max_new_tokens=10)
    assert (len(engine.heard), len(answer.content)) == (2, len(spoken(10)))
    assert answer.headers["x-finish-reason"] == "length"


def test_more_than_its_text_takes_leaves_the_engine_its_own_cap(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    answer = say(http, alice, max_new_tokens=8192)
    assert engine.heard[0].start.max_frames == 0
    assert answer.headers["x-finish-reason"] == "stop"


def test_frames_that_end_before_any_sound_are_refused_and_free(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(chunks=0, reason=pb.FINISH_REASON_LENGTH, frames=1)
    answer = say(http, alice, max_new_tokens=1)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "max_new_tokens")
    assert UsageEvent.objects.get().billed_characters == 0


@pytest.mark.parametrize(
    ("frames", "profile"), [(1, "latency"), (2, "balanced"), (7, "balanced"), (16, "throughput")]
)
def test_the_first_chunk_is_the_largest_ramps_that_is_not_larger(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, frames: int, profile: str
) -> None:
    assert say(http, alice, initial_codec_chunk_frames=frames).status_code == 200
    started = pb.ChunkProfile.Name(engine.heard[0].start.profile)
    assert started == f"CHUNK_PROFILE_{profile.upper()}"
    assert RAMPS[profile][0] == max(ramp[0] for ramp in RAMPS.values() if ramp[0] <= frames)


def test_without_a_wish_the_engine_has_its_usual_ramp() -> None:
    assert asked_frames.profile(0) == pb.CHUNK_PROFILE_UNSPECIFIED


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_new_tokens", 0),
        ("max_new_tokens", "many"),
        ("initial_codec_chunk_frames", 17),
        ("initial_codec_chunk_frames", 0),
    ],
)
def test_frames_out_of_range_are_refused(
    http: httpx.Client, alice: Party, field: str, value: object
) -> None:
    answer = say(http, alice, **{field: value})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, field)


CLONING = {
    "ref_audio": "data:audio/wav;base64,AAAA",
    "ref_text": "Hello.",
    "x_vector_only_mode": True,
    "speaker_embedding": [0.5, 0.25],
}


@pytest.mark.parametrize("field", uncloned.FIELDS)
def test_nobody_is_cloned_by_a_request(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, field: str
) -> None:
    answer = say(http, alice, **{field: CLONING[field]})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "clone_without_consent")
    assert error["param"] == field
    assert "POST /v1/audio/voice_consents" in error["message"]
    assert not engine.heard


def test_null_in_their_place_is_nothing(http: httpx.Client, alice: Party) -> None:
    assert say(http, alice, ref_audio=None).status_code == 200


def test_nobody_is_cloned_on_the_socket(base: str, alice: Party) -> None:
    url = base.replace("http:", "ws:") + "/v1/audio/speech/ws"
    with connect(url, additional_headers=alice.headers) as socket:
        socket.send(json.dumps({"type": "start", "voice": "Anna", "ref_audio": "data:,"}))
        told = json.loads(socket.recv(10))
    error = told["error"]
    assert (error["code"], error["param"]) == ("clone_without_consent", "ref_audio")
