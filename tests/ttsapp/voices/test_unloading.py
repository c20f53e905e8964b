"""A deleted voice leaves the engines' memory and that of every web process."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from asgiref.sync import async_to_sync
from django.conf import LazySettings
from django.utils import timezone

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices.conftest import made, speak
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import Actor
from ttsapp.voices import artifacts, lookout, tasks
from ttsapp.voices.models import Consent, Removal, Voice, VoiceVersion
from ttsapp.voices.services import consents, registry, unloading

ALICE = Actor(None, "user:alice")
NOWHERE = "unix:/nowhere/engine.sock"


@pytest.fixture(autouse=True)
def nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookout, "_seen", lookout._Seen())


def settled() -> None:
    """As if the deletion had been a while ago."""
    Removal.objects.update(created_at=timezone.now() - unloading.SETTLED)


def test_it_works(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    """Given a voice that an engine has pinned, when its consent is deleted, then it is asked to
    unload it by its ids: at once, and when no request can bring it back any more."""
    voice = made(http, alice)
    artifact = VoiceVersion.objects.get().artifact
    consents.delete_consent(ALICE, Consent.objects.get())

    assert tasks.unload_deleted() == 0
    settled()
    assert tasks.unload_deleted() == 1
    assert tasks.unload_deleted() == 0

    told = [(each.id, list(each.artifacts)) for each in cloning.unloaded]
    assert told == [(voice, [artifact])] * 2
    entry = AuditEntry.objects.get(action="voice.forgotten")
    assert (entry.tenant, entry.target, entry.actor) == (alice.tenant, voice, "system")
    assert entry.detail["artifacts"] == [artifact]
    assert entry.detail["engines"] == [
        {
            "engine": 1,
            "before": {"pinned": True, "entries": 2, "bytes": 800},
            "after": {"pinned": False, "entries": 0, "bytes": 0},
        }
    ]


def test_an_engine_that_is_away_is_told_when_it_is_back(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, settings: LazySettings
) -> None:
    made(http, alice)
    registry.delete_voice(ALICE, Voice.objects.get())
    settled()
    there = settings.ENGINES
    settings.ENGINES = (*there, NOWHERE)

    assert tasks.unload_deleted() == 0
    assert not AuditEntry.objects.filter(action="voice.forgotten").exists()
    settings.ENGINES = there
    assert tasks.unload_deleted() == 1
    (told,) = AuditEntry.objects.get(action="voice.forgotten").detail["engines"]
    assert told["before"]["pinned"] is True


def test_what_is_anothers_voice_too_stays(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party
) -> None:
    """The same recording: the pin under the deleted one's id goes, the artifact is in use."""
    voice, _ = made(http, alice), made(http, bob)
    registry.delete_voice(ALICE, Voice.objects.get(public_id=voice))
    assert tasks.unload_deleted() == 0
    assert [(each.id, list(each.artifacts)) for each in cloning.unloaded] == [(voice, [])]


def test_all_versions_go(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    made(http, alice)
    first = VoiceVersion.objects.get()
    second = VoiceVersion.objects.create(
        voice=first.voice, number=2, model=first.model, fingerprint="2", artifact="f" * 64
    )
    registry.delete_voice(ALICE, first.voice)
    tasks.unload_deleted()
    assert set(cloning.unloaded[0].artifacts) == {first.artifact, second.artifact}


def test_what_another_process_deleted_leaves_memory(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party
) -> None:
    voice, _ = made(http, alice), made(http, bob, name="Berta", ref_text="")
    other = made(http, bob, name="Carl", ref_text="The train to the coast leaves at nine today.")
    for party, name in ((alice, voice), (bob, other)):
        assert speak(http, party, name).status_code == 200
    gone = VoiceVersion.objects.get(voice__public_id=other).artifact
    kept = VoiceVersion.objects.get(voice__public_id=voice).artifact
    # Elsewhere: this process's memory is not what the service empties.
    Voice.objects.filter(public_id=other).update(deleted_at=timezone.now())
    VoiceVersion.objects.filter(voice__public_id=other).delete()

    async_to_sync(lookout.look)()

    assert artifacts.cache.digests() == [kept]
    assert gone != kept


def test_without_another_deletion_nothing_is_compared(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookout, "AFTER_SECONDS", 0.0)
    artifacts.cache.put("f" * 64, b"nobody's")
    async_to_sync(lookout.look)()
    artifacts.cache.put("e" * 64, b"nobody's")
    async_to_sync(lookout.look)()
    assert artifacts.cache.digests() == ["f" * 64, "e" * 64]
    made(http, alice)
    registry.delete_voice(ALICE, Voice.objects.get())
    monkeypatch.setattr(lookout, "AFTER_SECONDS", 60.0)
    async_to_sync(lookout.look)()
    assert artifacts.cache.digests() == []


def test_what_is_done_with_is_not_kept_for_ever(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    made(http, alice)
    registry.delete_voice(ALICE, Voice.objects.get())
    settled()
    tasks.unload_deleted()
    assert unloading.prune() == 0
    Removal.objects.update(done_at=timezone.now() - unloading.KEPT - timedelta(seconds=1))
    assert unloading.prune() == 1
