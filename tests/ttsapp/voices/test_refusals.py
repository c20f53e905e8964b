"""What cannot be a voice is refused with its reason, and nothing of it is kept."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices import recordings as heard
from tests.ttsapp.voices.conftest import clone, consent, made, stored
from ttsapp.voices.models import Voice

SPEECH = heard.speech()


def long_silence() -> bytes:
    """Ten minutes in a few kilobytes."""
    return heard.packed(np.zeros(600 * heard.RATE, np.float32), "FLAC")


def claims_gigabytes() -> bytes:
    """A header that promises more than there is."""
    content = bytearray(heard.wav(SPEECH[: heard.RATE]))
    content[40:44] = struct.pack("<I", 0xFFFF_FFF0)
    return bytes(content)


def claims_a_session() -> bytes:
    """A session description: its reader would wait at a port of ours for the sound."""
    return b"v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=audio 9876 RTP/AVP 0\n"


def with_nan() -> bytes:
    samples = SPEECH.copy()
    samples[1000] = np.nan
    return heard.wav(samples, subtype="FLOAT")


SAMPLES: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "empty_audio"),
    "text": (lambda: b"hello there " * 500, "not_audio"),
    "picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(5000), "not_audio"),
    "play-list of files": (lambda: b"#EXTM3U\n#EXTINF:9,\nfile:///etc/passwd\n", "not_audio"),
    "session": (claims_a_session, "not_audio"),
    "half a file": (lambda: heard.packed(SPEECH, "FLAC")[:200], "not_audio"),
    "no samples": (lambda: heard.wav(SPEECH[:0]), "empty_audio"),
    "not a number": (with_nan, "not_audio"),
    "ten minutes": (long_silence, "audio_too_long"),
    "one second": (lambda: heard.wav(SPEECH[: heard.RATE]), "audio_too_short"),
    "less than it claims": (claims_gigabytes, "audio_too_short"),
    "telephone": (lambda: heard.wav(SPEECH[::3], 8000), "sample_rate_too_low"),
    "silence": (lambda: heard.wav(np.zeros_like(SPEECH)), "audio_silent"),
    "noise": (lambda: heard.wav(heard.noise()), "audio_noisy"),
    "clipped": (lambda: heard.wav(np.clip(SPEECH * 8, -1, 1)), "audio_clipped"),
    "two speakers": (lambda: heard.wav(heard.two_speakers()), "several_speakers"),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_recording_that_is_none(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, sample: str
) -> None:
    make, code = SAMPLES[sample]
    allowed = consent(http, alice)
    answer = clone(http, alice, make(), consent=allowed)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, "audio_sample", code)
    assert "/" not in error["message"].replace("audio/", "")
    assert (cloning.encoded, stored(store), Voice.objects.count()) == ([], ["evidence"], 0)


def test_high_rate_stereo_is_mixed_down(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    sample = heard.wav(np.stack([SPEECH, SPEECH], 1).repeat(4, axis=0), 96_000, "PCM_24")
    assert clone(http, alice, sample, consent=consent(http, alice)).status_code == 200
    seconds = len(cloning.encoded[-1].pcm) / 4 / heard.RATE
    assert seconds == pytest.approx(len(SPEECH) / heard.RATE, abs=0.3)


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        ({"ref_text": "Hi."}, "ref_text", "transcript_mismatch"),
        ({"ref_text": "word " * 190}, "ref_text", "transcript_mismatch"),
        ({"ref_text": "word " * 210}, "ref_text", "string_above_max_length"),
        ({"name": " "}, "name", "missing_field"),
        ({"name": "a\x00b"}, "name", "invalid_value"),
        ({"name": "n" * 101}, "name", "string_above_max_length"),
        ({"language": "klingon"}, "language", "invalid_value"),
        ({"language": "fr"}, "language", "invalid_value"),
        ({"speed": "9"}, "speed", "invalid_value"),
        ({"speed": "fast"}, "speed", "invalid_type"),
        ({"tags": ",".join(f"t{n}" for n in range(21))}, "tags", "invalid_value"),
        ({"shape": "round"}, "shape", "unknown_field"),
        ({"type": "music"}, "type", "invalid_value"),
        ({"consent": ""}, "consent", "consent_required"),
        ({"consent": "consent_0"}, "consent", "unknown_consent"),
        ({"ref_audio": "data:audio/wav;base64,AAAA"}, "ref_audio", "invalid_value"),
    ],
)
def test_a_field_that_is_wrong(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    fields: dict[str, str],
    param: str,
    code: str,
) -> None:
    sent = {"consent": consent(http, alice), **fields}
    answer = clone(http, alice, **sent)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, param, code)
    assert (cloning.encoded, Voice.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("embedding", "code"),
    [
        ("[1, 2]", "wrong_dimension"),
        ("[NaN, 0, 0, 0, 0, 0, 0, 0]", "invalid_type"),
        ("[1e999, 0, 0, 0, 0, 0, 0, 0]", "invalid_type"),
        ("[0, 0, 0, 0, 0, 0, 0, 0]", "invalid_value"),
        ("[3.4e38, 0, 0, 0, 0, 0, 0, 0]", "invalid_value"),
        ("[-1.1e12, 0, 0, 0, 0, 0, 0, 0]", "invalid_value"),
        ("[1e-300, 0, 0, 0, 0, 0, 0, 0]", "invalid_value"),
        ("[[1]]", "invalid_type"),
    ],
)
def test_an_embedding_that_is_wrong(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, embedding: str, code: str
) -> None:
    sent = {"name": "Ann", "consent": consent(http, alice), "embedding": embedding}
    answer = http.post("/v1/audio/voices", json=sent, headers=alice.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, "embedding", code)
    assert (cloning.encoded, Voice.objects.count()) == ([], 0)


EMBEDDING = {"embedding": "[1, 0, 0, 0, 0, 0, 0, 0]"}
AUDIO = {"ref_audio": "data:audio/wav;base64,AAAA"}


@pytest.mark.parametrize(
    ("fields", "left_out"),
    [
        ({**EMBEDDING, **AUDIO}, "ref_audio"),
        ({**EMBEDDING, "ref_text": "Good morning."}, "ref_text"),
        ({"prompt": "A warm voice.", **AUDIO}, "ref_audio"),
        ({"prompt": "A warm voice.", **EMBEDDING}, "embedding"),
        ({"prompt": "A warm voice.", "ref_text": "Good morning."}, "ref_text"),
        ({"prompt": "A warm voice.", "type": "audio_sample", **AUDIO}, "prompt"),
    ],
)
def test_what_the_voice_would_not_be_made_of(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    fields: dict[str, str],
    left_out: str,
) -> None:
    sent = {"name": "Ann", "consent": consent(http, alice), **fields}
    answer = http.post("/v1/audio/voices", json=sent, headers=alice.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, left_out, "invalid_value")
    assert error["message"].endswith(f"alone: leave {left_out} out.")
    assert (cloning.encoded, Voice.objects.count()) == ([], 0)


def test_a_recording_beside_an_embedding(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    answer = clone(http, alice, consent=consent(http, alice), **EMBEDDING)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "audio_sample")
    assert (cloning.encoded, Voice.objects.count()) == ([], 0)


def test_a_name_is_taken_once(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    allowed = consent(http, alice)
    first, second = (clone(http, alice, consent=allowed, name=name) for name in ("Ann", "ANN"))
    assert (first.status_code, second.status_code) == (200, 409)
    assert second.json()["error"]["code"] == "name_taken"


@pytest.mark.parametrize("name", ["anna", "BEN", "Alloy"])
def test_a_name_of_a_models_voice_or_of_openais(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, name: str
) -> None:
    answer = clone(http, alice, consent=consent(http, alice), name=name)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "name_taken")
    voice = made(http, alice)
    renamed = http.patch(f"/voices/{voice}", json={"name": name}, headers=alice.headers)
    assert (renamed.status_code, Voice.objects.get().name) == (409, "Ann")


def test_a_file_that_is_too_large(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    allowed = consent(http, alice)
    for size in (10 * 1024 * 1024 + 1, 15 * 1024 * 1024):
        answer = clone(http, alice, bytes(size), consent=allowed)
        assert answer.status_code == 413
    assert cloning.encoded == []


def test_without_a_base_checkpoint_its_kind_is_named(
    http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    answer = clone(http, alice, consent=consent(http, alice))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "cloning_not_served")
    assert "kind base" in error["message"]


def test_a_form_of_another_kind_is_told_which_two_there_are(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    answer = http.post("/v1/audio/voices", data={"name": "Ann"}, headers=alice.headers)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        415,
        "Send the request as multipart/form-data or application/json.",
    )
