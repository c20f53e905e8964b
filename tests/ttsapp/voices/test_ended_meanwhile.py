"""A consent that ends while the engine still encodes: nothing of the speaker is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine, base_model
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import clone, consent, made, stored
from ttsapp import database
from ttsapp.audit.services import SYSTEM
from ttsapp.voices import tasks
from ttsapp.voices.models import Consent, Voice, VoiceVersion
from ttsapp.voices.services import consents, encoding

SAMPLE = recordings.wav(recordings.speech(pitch=150.0))


@pytest.fixture
def withdrawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Put the id of a consent here, and it is withdrawn once the engine has answered."""
    meant: list[str] = []
    encode = encoding.encode

    async def encode_and_withdraw(*given: Any) -> encoding.Encoded:
        found = await encode(*given)
        if meant:
            row = await database.read(Consent.objects.get, public_id=meant.pop())
            await database.write(consents.withdraw_consent, SYSTEM, row)
        return found

    monkeypatch.setattr(encoding, "encode", encode_and_withdraw)
    yield meant
    assert meant == []


def test_a_clone(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, withdrawn: list[str]
) -> None:
    allowed = consent(http, alice)
    withdrawn.append(allowed)
    answer = clone(http, alice, consent=allowed)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "consent_withdrawn")
    assert (stored(store), Voice.objects.count()) == (["evidence"], 0)


def test_another_recording(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path, withdrawn: list[str]
) -> None:
    voice = made(http, alice)
    withdrawn.append(Consent.objects.get().public_id)
    answer = http.post(
        f"/v1/voices/{voice}/edit",
        data={"name": "Ann"},
        files={"files": SAMPLE},
        headers=alice.headers,
    )
    assert (answer.status_code, answer.json()["detail"]["status"]) == (403, "consent_withdrawn")
    assert stored(store) == ["artifact", "clip", "evidence"]
    assert VoiceVersion.objects.get().number == 1


def test_other_weights(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, withdrawn: list[str]
) -> None:
    """When it is the first of two that a worker makes anew, then the other is made all the same."""
    voices = [made(http, alice, name=name) for name in ("Ann", "Zoe")]
    first = Voice.objects.order_by("-pk")[0]
    withdrawn.append(first.consent.public_id)
    cloning.models[-1] = base_model("scripted-2")
    assert tasks.renew_outdated() == 1
    counts = {each.public_id: each.versions.count() for each in Voice.objects.all()}
    assert sorted(counts) == sorted(voices)
    assert (counts.pop(first.public_id), list(counts.values())) == (1, [2])
