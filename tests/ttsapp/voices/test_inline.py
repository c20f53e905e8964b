"""A voice that a request brings with it, under its speaker's consent."""

from __future__ import annotations

import base64

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import consent
from ttsapp.audit.models import AuditEntry
from ttsapp.tenants.models import Tenant
from ttsapp.voices.models import Voice

WORDS = "The train to the coast leaves at nine, so we still have time for coffee."


@pytest.fixture(scope="module")
def sample() -> str:
    wav = base64.b64encode(recordings.wav(recordings.speech())).decode()
    return f"data:audio/wav;base64,{wav}"


def say(http: httpx.Client, party: Party, **fields: object) -> httpx.Response:
    body = {"model": "tts-1", "input": "Hello there.", "response_format": "pcm", **fields}
    return http.post("/v1/audio/speech", json=body, headers=party.headers)


def refused(answer: httpx.Response, status: int, code: str, param: str) -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert not Voice.objects.exists()


def test_it_works(http: httpx.Client, cloning: ScriptedEngine, alice: Party, sample: str) -> None:
    """It is a voice of the account's like any other: on record, with its consent."""
    allowed = consent(http, alice)
    answer = say(http, alice, ref_audio=sample, consent=allowed)
    assert (answer.status_code, answer.content) == (200, spoken(5))
    voice = Voice.objects.get()
    assert (voice.tenant, voice.kind, voice.consent.public_id) == (
        alice.tenant,
        "x_vector",
        allowed,
    )
    assert cloning.heard[0].start.model == "scripted-base"
    assert cloning.heard[0].start.voice.artifact.data
    assert AuditEntry.objects.get(action="voice.created").actor == f"key:{alice.key.public_id}"


def test_the_second_time_it_is_found(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, sample: str
) -> None:
    how = {"ref_audio": sample, "consent": consent(http, alice)}
    assert say(http, alice, **how).status_code == 200
    # OpenAI's clients cannot leave the voice out.
    assert say(http, alice, **how, voice="alloy", task_type="Base").status_code == 200
    assert (Voice.objects.count(), len(cloning.encoded)) == (1, 1)
    assert cloning.heard[0].start.voice == cloning.heard[1].start.voice


def test_where_clones_are_approved_it_waits_for_that(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, sample: str
) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(reviews_voices=True)
    how = {"ref_audio": sample, "consent": consent(http, alice)}
    for _ in range(2):
        answer = say(http, alice, **how)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "voice_review")
    assert Voice.objects.get().stage == "review"
    assert cloning.heard == []


@pytest.mark.parametrize(
    ("mode", "kind", "text"),
    [({}, "in_context", WORDS), ({"x_vector_only_mode": True}, "x_vector", "")],
)
def test_what_is_said_in_it(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    sample: str,
    mode: dict[str, bool],
    kind: str,
    text: str,
) -> None:
    how = {"ref_audio": sample, "ref_text": WORDS, "consent": consent(http, alice), **mode}
    assert say(http, alice, **how).status_code == 200
    assert (Voice.objects.get().kind, cloning.encoded[-1].text) == (kind, text)


def test_an_embedding(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    size = cloning.models[-1].embedding_size
    how = {"speaker_embedding": [0.5] * size, "consent": consent(http, alice)}
    assert say(http, alice, **how).status_code == 200
    assert Voice.objects.get().kind == "x_vector"


def test_an_ended_consent(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, sample: str
) -> None:
    allowed = consent(http, alice)
    assert say(http, alice, ref_audio=sample, consent=allowed).status_code == 200
    path = f"/v1/audio/voice_consents/{allowed}/withdraw"
    assert http.post(path, json={}, headers=alice.headers).status_code == 200
    assert say(http, alice, ref_audio=sample, consent=allowed).status_code == 403
    assert len(cloning.heard) == 1


def test_anothers_consent(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, mallory: Party, sample: str
) -> None:
    how = {"ref_audio": sample, "consent": consent(http, alice)}
    refused(say(http, mallory, **how), 400, "unknown_consent", "consent")


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"ref_audio": "data:,"}, "clone_without_consent", "ref_audio"),
        ({"ref_audio": "data:,", "consent": " "}, "clone_without_consent", "ref_audio"),
        ({"consent": "consent_x"}, "invalid_value", "consent"),
        ({"ref_text": "Hi.", "consent": "consent_x"}, "missing_field", "ref_audio"),
        (
            {"ref_audio": "data:,", "speaker_embedding": [1.0], "consent": "x"},
            "invalid_value",
            "speaker_embedding",
        ),
        (
            {"ref_audio": "data:,", "x_vector_only_mode": False, "consent": "x"},
            "missing_field",
            "ref_text",
        ),
        ({"ref_audio": "data:,", "voice": "Anna", "consent": "x"}, "invalid_value", "voice"),
        (
            {"ref_audio": "data:,", "task_type": "CustomVoice", "consent": "x"},
            "invalid_value",
            "task_type",
        ),
        ({"speaker_embedding": ["a"], "consent": "x"}, "invalid_type", "speaker_embedding"),
        ({"ref_audio": "data:,", "consent": "consent_x"}, "unknown_consent", "consent"),
    ],
)
def test_a_bad_request(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    fields: dict[str, object],
    code: str,
    param: str,
) -> None:
    refused(say(http, alice, **fields), 400, code, param)


def test_what_is_no_recording(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    how = {"ref_audio": "data:audio/wav;base64,AAAA", "consent": consent(http, alice)}
    refused(say(http, alice, **how), 400, "not_audio", "ref_audio")
