"""Audio that is told as an address goes with the voice that said it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices.conftest import made

PATH = "/api/v1/services/aigc/multimodal-generation/generation"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "DATA", tmp_path)
    return tmp_path / "answers"


def address(http: httpx.Client, party: Party, voice: str) -> str:
    body = {"model": "qwen3-tts-flash", "input": {"text": "Hello there.", "voice": voice}}
    answer = http.post(PATH, json=body, headers=party.headers)
    assert answer.status_code == 200, answer.text
    return urlsplit(answer.json()["output"]["audio"]["url"]).path


def test_deleting_a_voice_deletes_what_it_said(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, folder: Path
) -> None:
    voice, other = made(http, alice), made(http, alice, name="Bea")
    said = [address(http, alice, each) for each in (voice, other, "Cherry")]
    before = [http.get(each).status_code for each in said]
    gone = http.delete(f"/v1/audio/voices/{voice}", headers=alice.headers)
    after = [http.get(each).status_code for each in said]

    assert (before, gone.status_code, after) == ([200, 200, 200], 200, [404, 200, 200])
    assert len(list(folder.iterdir())) == 2


def test_an_address_does_not_tell_the_voice(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    assert voice not in address(http, alice, voice)
