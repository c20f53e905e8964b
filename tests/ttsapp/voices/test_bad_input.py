"""By whatever way it comes in: what is no good recording is refused with its field, its reason and
what to do, and nothing of it is kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices import recordings as heard
from tests.ttsapp.voices.bad import BAD, EMBEDDINGS, PATHS, SPEECH, high_rate_stereo, sample
from tests.ttsapp.voices.conftest import clone, consent, made, stored
from tests.ttsapp.voices.doors import BY_ADDRESS, DOORS, Sent
from ttsapp.voices.models import Consent, Voice

REMEDY = re.compile(r"\b(send|record|cut|choose|check)\b", re.IGNORECASE)
# What nobody outside needs to know: paths, modules, what a library said.
LEAKS = re.compile(r"/|\\|Error|Traceback|ttsapp|ffmpeg|libav|\bav\b", re.IGNORECASE)


def nothing_came_of_it(cloning: ScriptedEngine, store: Path) -> bool:
    return (cloning.encoded, stored(store), Voice.objects.count()) == ([], ["evidence"], 0)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("bad", BAD)
def test_a_recording_that_is_none(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, bad: str, door: str
) -> None:
    way, expected = DOORS[door], BAD[bad][1]
    status, code, message = way.send(Sent(http, alice, consent(http, alice), sample(bad)))

    assert status == (413 if expected == "file_too_large" and way.codes else 400)
    assert code == (expected if way.codes else "")
    if message != "The submitted file is empty.":  # the form's own words, beside its field
        assert way.recording in message
        assert REMEDY.search(message), message
    assert not LEAKS.search(message), message
    assert nothing_came_of_it(cloning, store)


@pytest.mark.parametrize("door", [name for name, door in DOORS.items() if door.text])
def test_a_wrong_transcript(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, door: str
) -> None:
    way, allowed = DOORS[door], consent(http, alice)
    sent = Sent(http, alice, allowed, heard.wav(SPEECH), text="word " * 190)
    status, code, message = way.send(sent)
    assert (status, code) == (400, "transcript_mismatch" if way.codes else "")
    assert message.startswith(f"{way.text} takes about ")
    assert REMEDY.search(message)
    assert nothing_came_of_it(cloning, store)


@pytest.mark.parametrize("door", DOORS)
def test_high_rate_stereo_is_taken(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, door: str
) -> None:
    sent = Sent(http, alice, consent(http, alice), high_rate_stereo())
    status, *_ = DOORS[door].send(sent)
    assert status == 200
    assert len(cloning.encoded[-1].pcm) // 4 == pytest.approx(len(SPEECH), rel=0.05)


@pytest.mark.parametrize("door", DOORS)
def test_what_a_file_is_called_makes_no_path(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, door: str
) -> None:
    file_name = "../../../etc/cron.d/ann.wav"
    allowed = consent(http, alice)
    status, *_ = DOORS[door].send(
        Sent(http, alice, allowed, heard.wav(SPEECH), file_name=file_name)
    )
    assert status == 200
    assert stored(store) == ["artifact", "clip", "evidence"]
    names = [file.name for file in store.rglob("*") if file.is_file()]
    assert all(re.fullmatch("[0-9a-f]{64}", name) for name in names)


@pytest.mark.parametrize("name", PATHS)
def test_a_name_that_is_a_path(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, name: str
) -> None:
    answer = clone(http, alice, consent=consent(http, alice), name=name)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, "name", "invalid_value")
    assert error["message"] == "name looks like a path: choose a plain name, like Ann."
    assert nothing_came_of_it(cloning, store)


@pytest.mark.parametrize("door", [name for name in DOORS if not name.startswith("dashscope")])
def test_a_name_that_is_a_path_by_any_way(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, door: str
) -> None:
    """DashScope's clients have no signs for one."""
    sent = Sent(http, alice, consent(http, alice), heard.wav(SPEECH), name="../../etc/passwd")
    status, *_ = DOORS[door].send(sent)
    assert status == 400
    assert nothing_came_of_it(cloning, store)


@pytest.mark.parametrize("name", ["AC/DC", "Dr. No", "v1.2", "50 %", "Ann (en/de)", "..."])
def test_a_name_with_signs_in_it_is_a_name(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, name: str
) -> None:
    answer = clone(http, alice, consent=consent(http, alice), name=name)
    assert (answer.status_code, answer.json()["name"]) == (200, name)


def test_a_voice_is_not_renamed_to_a_path(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    answer = http.patch(f"/voices/{voice}", json={"name": "../Ann"}, headers=alice.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "invalid_value")
    assert Voice.objects.get().name == "Ann"


def test_a_consent_is_not_named_by_a_path(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path
) -> None:
    files = {"recording": b"%PDF-1.7 I agree that my voice is cloned."}
    sent = {"name": "../../Ann"}
    answer = http.post("/v1/audio/voice_consents", data=sent, files=files, headers=alice.headers)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "name")
    assert (stored(store), Consent.objects.count()) == ([], 0)


@pytest.mark.parametrize("door", BY_ADDRESS)
@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("https://127.0.0.1/ann.wav", "address_not_allowed"),
        ("https://169.254.169.254/latest/meta-data", "address_not_allowed"),
        ("https://[::1]/ann.wav", "address_not_allowed"),
        ("https://10.0.0.7/ann.wav", "address_not_allowed"),
        ("file:///etc/passwd", "invalid_value"),
        ("http://example.com/ann.wav", "invalid_value"),
    ],
)
def test_an_address_of_our_own_network(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    store: Path,
    door: str,
    address: str,
    code: str,
) -> None:
    way = DOORS[door]
    status, told, message = way.send(Sent(http, alice, consent(http, alice), address=address))
    assert (status, told) == (400, code)
    assert way.recording in message
    assert urlsplit(address).path not in message
    assert nothing_came_of_it(cloning, store)


@pytest.mark.parametrize("door", BY_ADDRESS)
def test_a_redirect_into_our_own_network(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    store: Path,
    door: str,
    elsewhere: dict[str, Any],
) -> None:
    elsewhere.update({"status": 302, "headers": {"Location": "https://10.0.0.1/ann.wav"}})
    way = DOORS[door]
    sent = Sent(http, alice, consent(http, alice), address="https://example.com/ann.wav")
    status, code, message = way.send(sent)
    assert (status, code) == (400, "address_redirects")
    assert way.recording in message
    assert "10.0.0.1" not in message
    assert nothing_came_of_it(cloning, store)


@pytest.mark.parametrize("bad", EMBEDDINGS)
def test_an_embedding_that_is_none(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, bad: str
) -> None:
    embedding, code = EMBEDDINGS[bad]
    body = {"name": "Ann", "consent": consent(http, alice), "embedding": embedding}
    answer = http.post("/v1/audio/voices", json=body, headers=alice.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, "embedding", code)
    assert nothing_came_of_it(cloning, store)


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary="])
def test_a_form_that_cannot_be_read(http: httpx.Client, alice: Party, content_type: str) -> None:
    headers = {**alice.headers, "Content-Type": content_type}
    answer = http.post("/v1/audio/voices", content=b"--x", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
