"""What a page cannot do now is a 503 that says so; what was filled in is still there."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import EngineThread, ScriptedEngine
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import consent, made, stored
from ttsapp.voices import selectors
from ttsapp.voices.clips import decoding
from ttsapp.voices.models import Consent, Voice

SAMPLE = recordings.wav(recordings.speech())
FILES = {"recording": ("ann.wav", SAMPLE)}
WORDS = "Ann says as much here as fits into the six seconds of her recording, word for word."
TYPED = {"name": "Ann Archer", "language": "auto", "speed": "1", "tags": "warm, hotline"}
STILL_HERE = "What you filled in is still here: send it again in a moment."


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes remember nothing of an engine that is away."""
    for remembers in ("voices.selectors", "engine.connection"):
        monkeypatch.setattr(f"ttsapp.{remembers}.USABLE_SECONDS", -1.0)


def in_trouble(answer: httpx.Response) -> str:
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert STILL_HERE in answer.text
    return answer.text


def test_a_clone_while_the_engine_is_away(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path
) -> None:
    agreed = consent(http, alice)
    cloning.encode_refusal = "engine_draining"
    with browser(base, "alice") as page:
        sent = {
            **TYPED,
            "consent": agreed,
            "text": WORDS,
        }
        text = in_trouble(page.post("/console/alice/voices/clone", data=sent, files=FILES))
        for typed in (
            "Ann Archer",
            "warm, hotline",
            WORDS,
            f'"{agreed}" selected',
        ):
            assert typed in text
        assert "Choose the file again if its field is empty." in text
        assert (Voice.objects.count(), stored(store)) == (0, ["evidence"])
        cloning.encode_refusal = ""
        again = page.post("/console/alice/voices/clone", data={**sent, "text": ""}, files=FILES)
    assert again.status_code == 302


@pytest.mark.usefixtures("forgetful")
def test_a_design_while_no_engine_is_there(
    base: str, three: ScriptedEngine, engine_thread: EngineThread, alice: Party
) -> None:
    engine_thread.stop()
    with browser(base, "alice") as page:
        sent = {**TYPED, "prompt": "A hoarse old sailor."}
        text = in_trouble(page.post("/console/alice/voices/design", data=sent))
    assert "A hoarse old sailor." in text
    assert "Choose the file" not in text


def test_another_recording_while_the_engine_is_away(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    where = f"/console/alice/voices/of/{made(http, alice)}/renew"
    cloning.encode_refusal = "engine_full"
    with browser(base, "alice") as page:
        text = in_trouble(
            page.post(
                where,
                data={"text": WORDS},
                files=FILES,
            )
        )
    assert WORDS in text
    assert Voice.objects.get().versions.count() == 1


@pytest.mark.usefixtures("forgetful")
def test_a_change_of_name_while_no_engine_can_tell_what_is_taken(
    base: str,
    http: httpx.Client,
    cloning: ScriptedEngine,
    engine_thread: EngineThread,
    alice: Party,
) -> None:
    where = f"/console/alice/voices/of/{made(http, alice)}"
    engine_thread.stop()
    with browser(base, "alice") as page:
        text = in_trouble(page.post(where, data={**TYPED, "name": "Berta"}))
    assert 'value="Berta"' in text
    assert Voice.objects.get().name == "Ann"


def test_a_statement_that_nobody_could_read_now(
    base: str, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "CHILD_SECONDS", 0.0)
    sent = {"person": "Ann Archer", "relation": "self", "name": "Ann", "purposes": "hotline"}
    with browser(base, "alice") as page:
        answer = page.post(
            "/console/alice/consents/new", data={**sent, "territory": "EU"}, files=FILES
        )
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "Ann Archer" in answer.text
    assert Consent.objects.count() == 0


def test_what_has_to_be_mended_is_a_400(base: str, cloning: ScriptedEngine, alice: Party) -> None:
    with browser(base, "alice") as page:
        answer = page.post("/console/alice/voices/clone", data=TYPED, files=FILES)
    assert answer.status_code == 400
    assert STILL_HERE not in answer.text


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("voice", ["Anna", "nobody"])
def test_a_preview_while_no_engine_is_there(
    base: str, alice: Party, engine_thread: EngineThread, voice: str
) -> None:
    """Nobody can tell what there is."""
    engine_thread.stop()
    with browser(base, "alice") as page:
        answer = page.get(f"/console/alice/voices/of/{voice}/previews/1")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert "is away right now: try again in a moment." in answer.text


def test_a_preview_of_a_voice_whose_model_is_away(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    where = f"/console/alice/voices/of/{made(http, alice)}/previews/1"
    cloning.models.pop()
    selectors._memories.clear()
    with browser(base, "alice") as page:
        answer = page.get(where)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "which no engine has ready" in answer.text


def test_a_preview_of_nobody(base: str, engine: ScriptedEngine, alice: Party) -> None:
    with browser(base, "alice") as page:
        assert page.get("/console/alice/voices/of/nobody/previews/1").status_code == 404


@pytest.mark.usefixtures("forgetful")
def test_a_preset_is_not_hidden_while_nobody_can_tell_what_there_is(
    base: str, alice: Party, engine_thread: EngineThread
) -> None:
    engine_thread.stop()
    with browser(base, "alice") as page:
        answer = page.post("/console/alice/voices/hide", data={"name": "Anna"})
    assert answer.status_code == 503
    assert "The engine is not there yet." in answer.text
