"""A request's audio, heard again where its tenant wanted it kept: by whom, and for how long."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from pytest_django import DjangoCaptureOnCommitCallbacks

from tests.browser.furnished import consented_voice
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.speech import kept
from ttsapp.speech.models import RequestLog
from ttsapp.speech.tasks import remove_expired
from ttsapp.voices.own import Preset
from ttsapp.voices.services.consents import withdraw_consent
from ttsapp.voices.services.registry import delete_voice

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
AUDIO = b"RIFF and so on"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "DATA", tmp_path)
    return tmp_path / "recordings"


def recorded(party: Party, voice: str = "anna", seconds: int = 3600) -> str:
    """The address of a request whose audio is kept for so long."""
    request = use(party.tenant, party.key, NOON)
    file = kept.named(Preset(voice, "english", ""), seconds)
    assert asyncio.run(kept.write(kept.RECORDINGS, file, AUDIO))
    RequestLog.objects.filter(pk=request).update(voice=voice, recording=file.name)
    return f"/console/alice/requests/{request}"


def test_it_works(sign_in: SignIn, alice: Party) -> None:
    where = recorded(alice)
    developer = sign_in("developer")
    assert f'src="{where}/audio"' in developer.get(where).content.decode()

    answer = developer.get(f"{where}/audio")

    assert (answer["Content-Type"], answer.content) == ("audio/wav", AUDIO)
    entry = AuditEntry.objects.get(action="request.heard")
    assert (entry.actor, entry.target) == ("user:developer", where.rsplit("/", 1)[1])


def test_a_viewer_hears_nothing(sign_in: SignIn, alice: Party) -> None:
    where = recorded(alice)
    viewer = sign_in("viewer")
    assert "<audio" not in viewer.get(where).content.decode()
    assert viewer.get(f"{where}/audio").status_code == 403
    assert not AuditEntry.objects.filter(action="request.heard").exists()


def test_another_tenant_hears_nothing(sign_in: SignIn, alice: Party, mallory: Party) -> None:
    there = recorded(alice)
    theirs = there.replace("/alice/", "/mallory/")
    assert sign_in("mallory").get(f"{theirs}/audio").status_code == 404
    assert sign_in("mallory").get(f"{there}/audio").status_code == 404


def test_its_time_is_over(sign_in: SignIn, alice: Party, folder: Path) -> None:
    where = recorded(alice, seconds=-1)
    assert "<audio" not in sign_in("alice").get(where).content.decode()
    assert sign_in("alice").get(f"{where}/audio").status_code == 404

    assert remove_expired() == 1
    assert list(folder.iterdir()) == []


def test_what_is_not_over_stays(sign_in: SignIn, alice: Party) -> None:
    where = recorded(alice)
    assert remove_expired() == 0
    assert sign_in("alice").get(f"{where}/audio").status_code == 200


def test_what_was_never_kept_is_not_there(sign_in: SignIn, alice: Party) -> None:
    request = use(alice.tenant, alice.key, NOON)
    answer = sign_in("alice").get(f"/console/alice/requests/{request}/audio")
    assert answer.status_code == 404


def test_it_ends_with_its_speakers_consent(sign_in: SignIn, alice: Party) -> None:
    voice = consented_voice(alice.tenant)
    where = recorded(alice, voice.public_id)
    assert sign_in("alice").get(f"{where}/audio").status_code == 200

    assert voice.consent is not None
    withdraw_consent(SYSTEM, voice.consent)

    assert sign_in("alice").get(f"{where}/audio").status_code == 404
    assert "<audio" not in sign_in("alice").get(where).content.decode()


def test_it_goes_with_its_voice(
    sign_in: SignIn,
    alice: Party,
    folder: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    voice = consented_voice(alice.tenant)
    where = recorded(alice, voice.public_id)
    with django_capture_on_commit_callbacks(execute=True):
        delete_voice(SYSTEM, voice)

    assert list(folder.iterdir()) == []
    assert sign_in("alice").get(f"{where}/audio").status_code == 404
