"""POST /v1/audio/speech: what a caller gets when all is well."""

from __future__ import annotations

import base64
import io
import json
import wave
from uuid import UUID

import httpx
import pytest

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import WAIT, ScriptedEngine, chunk, spoken
from ttsapp.speech.models import RequestLog


def say(http: httpx.Client, party: Party, text: str = "Hello there.", **fields: object):
    return http.post("/v1/audio/speech", json=speech(text, **fields), headers=party.headers)


def test_it_works(http: httpx.Client, alice: Party) -> None:
    response = say(http, alice, "Hello there.")

    assert response.status_code == 200
    assert response.headers["content-type"] == "audio/pcm"
    assert response.headers["x-parlance-characters"] == "12"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.content == spoken(5)
    event = UsageEvent.objects.get(pk=UUID(response.headers["x-request-id"]))
    assert (event.tenant, event.key) == (alice.tenant, alice.key)
    assert (event.outcome, event.characters, event.billed_characters) == ("completed", 12, 12)
    assert (event.audio_ms, event.frames, event.predictor_ms) == (400, 5, 2.5)
    assert (event.engine, event.finish_reason, event.underruns) == ("scripted", "stop", 0)
    assert event.first_audio_ms is not None
    assert not Reservation.objects.exists()


def test_the_request_log_tells_how_it_went(http: httpx.Client, alice: Party) -> None:
    response = say(http, alice, seed=7)

    log = http.get(
        f"/v1/audio/speech/requests/{response.headers['x-request-id']}", headers=alice.headers
    ).json()
    assert log["finish_reason"] == "stop"
    assert (log["status"], log["characters"], log["billed_characters"]) == (200, 12, 12)
    assert log["underruns"] == 0
    assert (log["audio_ms"], log["seed"], log["voice"]) == (400, 7, "Anna")
    assert log["model"] == "scripted-voices"
    assert log["error"] is None


def test_neither_text_nor_audio_is_stored(http: httpx.Client, alice: Party) -> None:
    response = say(http, alice, "A secret sentence.", instructions="whisper it")

    rows = [
        RequestLog.objects.values().get(pk=response.headers["x-request-id"]),
        UsageEvent.objects.values().get(pk=response.headers["x-request-id"]),
    ]
    assert "secret" not in str(rows)
    assert "whisper" not in str(rows)


def test_the_first_bytes_leave_before_the_last_are_made(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    with http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as response:
        body = response.iter_raw()
        early = next(body)
        while len(early) < len(spoken(2)):
            early += next(body)
        assert engine.heard[0].ended.is_set() is False
        engine.release.set()
        assert early + b"".join(body) == spoken(5)
    assert response.headers["transfer-encoding"] == "chunked"


def test_wav_streams_behind_a_header_of_unknown_length(http: httpx.Client, alice: Party) -> None:
    response = say(http, alice, response_format="wav")

    assert response.headers["content-type"] == "audio/wav"
    assert response.content[:8] == b"RIFF\xff\xff\xff\xff"
    assert response.content[40:44] == b"\xff\xff\xff\xff"
    assert response.content[44:] == spoken(5)


def test_a_whole_wav_has_true_sizes_and_its_finish_reason(http: httpx.Client, alice: Party) -> None:
    response = say(http, alice, response_format="wav", stream=False)

    with wave.open(io.BytesIO(response.content)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        assert file.readframes(file.getnframes()) == spoken(5)
    assert int(response.headers["content-length"]) == len(spoken(5)) + 44
    assert response.headers["x-finish-reason"] == "stop"
    assert response.headers["x-audio-ms"] == "400"
    assert UsageEvent.objects.get().audio_ms == 400


def test_mp3_is_the_default_and_starts_with_the_first_chunk(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 1
    body = speech(response_format=...)
    with http.stream("POST", "/v1/audio/speech", json=body, headers=alice.headers) as response:
        chunks = response.iter_raw()
        first = next(chunks)
        engine.release.set()
        rest = b"".join(chunks)
    assert response.headers["content-type"] == "audio/mpeg"
    assert first[0] == 0xFF
    assert first[1] & 0xE0 == 0xE0
    # Constant bit rate: 96 kbit/s over 0.4 s, give or take the encoder's padding.
    assert 4800 <= len(first + rest) <= 6500


@pytest.mark.parametrize("response_format", ["pcm", "wav", "mp3"])
def test_sse_deltas_join_to_the_same_file(
    http: httpx.Client, alice: Party, response_format: str
) -> None:
    plain = say(http, alice, response_format=response_format, seed=1).content

    response = say(http, alice, response_format=response_format, seed=1, stream_format="sse")

    assert response.headers["content-type"] == "text/event-stream"
    lines = response.text.strip().split("\n\n")
    assert all(line.startswith("data: {") for line in lines)
    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert {event["type"] for event in events[:-1]} == {"speech.audio.delta"}
    joined = b"".join(base64.b64decode(event["audio"]) for event in events[:-1])
    assert joined == plain
    if response_format != "mp3":
        assert joined == joined[: -len(spoken(5))] + spoken(5)
        assert len(joined) - len(spoken(5)) == (44 if response_format == "wav" else 0)
    assert events[-1] == {
        "type": "speech.audio.done",
        "usage": {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12},
        "finish_reason": "stop",
    }


def test_what_was_asked_for_reaches_the_engine(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    say(
        http,
        alice,
        "Guten Tag.",
        voice={"id": "ben"},
        instructions="cheerful",
        language="de-DE",
        seed=2**62,
        speed=1,
    )

    start = engine.heard[0].start
    assert (start.model, start.voice.preset) == ("scripted-voices", "Ben")
    assert (start.text, start.language, start.instructions) == (
        "Guten Tag.",
        "german",
        "cheerful",
    )
    assert (start.seed, start.tenant) == (2**62, str(alice.tenant.pk))


def test_instruct_is_another_name_for_instructions(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    say(http, alice, instruct="cheerful")

    assert engine.heard[0].start.instructions == "cheerful"


def test_a_seed_nobody_named_is_told_back(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    response = say(http, alice)

    assert int(response.headers["x-parlance-seed"]) == engine.heard[0].start.seed


@pytest.mark.parametrize("voice", ["alloy", "coral", "marin", "nova", "sage", "shimmer"])
def test_stock_names_for_female_voices(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, voice: str
) -> None:
    assert say(http, alice, voice=voice).status_code == 200
    assert engine.heard[0].start.voice.preset == "Anna"


@pytest.mark.parametrize("voice", ["ash", "ballad", "cedar", "echo", "fable", "onyx", "verse"])
def test_stock_names_for_male_voices(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, voice: str
) -> None:
    assert say(http, alice, voice=voice).status_code == 200
    assert engine.heard[0].start.voice.preset == "Ben"


@pytest.mark.parametrize(
    "model", ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15"]
)
def test_retired_model_names_stand_for_the_first_with_voices(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, model: str
) -> None:
    assert say(http, alice, model=model).status_code == 200
    assert engine.heard[0].start.model == "scripted-voices"


def test_characters_are_code_points(http: httpx.Client, alice: Party) -> None:
    response = say(http, alice, "Grüße 👩‍🚀 e\u0301")

    assert response.headers["x-parlance-characters"] == "12"
    assert UsageEvent.objects.get().characters == 12


def test_a_length_finish_is_told_and_billed_as_text(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.reason = 2
    engine.script.chunks = 500

    response = say(http, alice, "Hi there", stream=False)

    assert response.headers["x-finish-reason"] == "length"
    assert UsageEvent.objects.get().billed_characters == 8


def test_ten_at_once_hear_their_own(base: str, alice: Party, engine: ScriptedEngine) -> None:
    import asyncio

    async def one(client: httpx.AsyncClient, place: int) -> tuple[int, bytes]:
        body = speech(f"Sentence number {place}.")
        response = await client.post("/v1/audio/speech", json=body, headers=alice.headers)
        return response.status_code, response.content

    async def all_of_them() -> list[tuple[int, bytes]]:
        async with httpx.AsyncClient(base_url=base, timeout=WAIT) as client:
            return await asyncio.gather(*(one(client, place) for place in range(10)))

    assert asyncio.run(all_of_them()) == [(200, spoken(5))] * 10
    assert UsageEvent.objects.filter(outcome="completed").count() == 10
    assert chunk(0) != chunk(1)


@pytest.mark.parametrize(
    "field",
    [
        "instructions",
        "instruct",
        "stream_format",
        "sample_rate",
        "bit_rate",
        "speed",
        "language",
        "seed",
        "stream",
        "apply_text_normalization",
        "enable_ssml_parsing",
        "lexicon",
    ],
)
def test_null_is_the_same_as_left_out(http: httpx.Client, alice: Party, field: str) -> None:
    response = say(http, alice, **{field: None})
    assert (response.status_code, response.content) == (200, spoken(5))


def test_the_log_tells_the_largest_seed_exactly(http: httpx.Client, alice: Party) -> None:
    response = say(http, alice, seed=2**63 - 1)
    assert response.headers["x-parlance-seed"] == "9223372036854775807"
    url = f"/v1/audio/speech/requests/{response.headers['x-request-id']}"
    told = eventually(lambda: http.get(url, headers=alice.headers).json().get("seed"))
    assert told == 2**63 - 1
