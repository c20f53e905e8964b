"""What workers do for voices; sharing, hiding and designing them; what the store keeps."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, base_model, pb
from tests.ttsapp.voices.conftest import made, speak, stored
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import Actor
from ttsapp.errors import ApiError
from ttsapp.voices import previews, storage, tasks
from ttsapp.voices.artifacts import ArtifactCache
from ttsapp.voices.models import Consent, Share, Voice, VoiceVersion
from ttsapp.voices.services import consents, registry, sharing
from ttsapp.voices.storage import Blob, DamagedError

ALICE = Actor(None, "user:alice")


def test_previews_are_made_once(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path
) -> None:
    voice = made(http, alice)
    for name, expected in ((voice, 3), (voice, 0), ("Anna", 3), ("nobody", 0)):
        assert tasks.make_previews(alice.tenant.pk, name) == expected
    assert stored(store).count("preview") == 6
    starts = [heard.start for heard in cloning.heard]
    assert {start.priority for start in starts} == {pb.PRIORITY_BACKGROUND}
    assert {start.model for start in starts} == {"scripted-base", "scripted-voices"}


def test_previews_go_with_their_voice(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path
) -> None:
    voice = made(http, alice)
    tasks.make_previews(alice.tenant.pk, voice)
    # Spoken in another language from now on: those of the first are still there.
    row = Voice.objects.get()
    registry.change_voice(ALICE, row, language="german")
    tasks.make_previews(alice.tenant.pk, voice)
    assert stored(store).count("preview") == 6

    http.delete(f"/v1/audio/voices/{voice}", headers=alice.headers)

    assert stored(store) == ["evidence"]


def test_a_preview_that_comes_after_the_end_of_its_voice_is_not_kept(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    voice = made(http, alice)
    encoded = previews.encode_whole

    def meanwhile(*spoken: Any) -> bytes:
        shutil.rmtree(store / "artifact")
        return encoded(*spoken)

    monkeypatch.setattr(previews, "encode_whole", meanwhile)
    assert tasks.make_previews(alice.tenant.pk, voice) == 0
    assert "preview" not in stored(store)


def test_a_withdrawn_voice_has_no_previews(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path
) -> None:
    voice = made(http, alice)
    consents.withdraw_consent(ALICE, Consent.objects.get())
    assert tasks.make_previews(alice.tenant.pk, voice) == 0
    assert "preview" not in stored(store)


def test_new_weights_get_new_artifacts(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    cloning.models[-1] = base_model("scripted-2")
    assert tasks.renew_outdated() == 1
    first, second = VoiceVersion.objects.order_by("number")
    assert (second.fingerprint, second.number) == ("scripted-2", 2)
    assert first.artifact != second.artifact
    assert (first.start_ms, first.end_ms) == (second.start_ms, second.end_ms)
    assert tasks.renew_outdated() == 0
    assert AuditEntry.objects.get(action="voice.renewed").target == voice


def test_a_voice_for_other_weights_is_not_spoken_with(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    VoiceVersion.objects.update(fingerprint="before")
    Voice.objects.get().tenant.shelf.__class__.objects.update(number=77)
    answer = speak(http, alice, voice)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "voice_not_served")


def test_a_blob_that_was_changed_is_refused(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path
) -> None:
    voice = made(http, alice)
    file = next((store / "artifact").rglob("*/*"))
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    with pytest.raises(DamagedError):
        storage.get(Blob.ARTIFACT, file.name)
    answer = speak(http, alice, voice)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "voice_unreadable")
    assert cloning.heard == []


def test_a_blob_does_not_pass_for_another_kind(store: Path) -> None:
    digest = storage.digest_of(b"a clip")
    storage.put_named(Blob.CLIP, digest, b"a clip")
    target = store / "artifact" / digest[:2] / digest
    target.parent.mkdir(parents=True)
    (store / "clip" / digest[:2] / digest).rename(target)
    with pytest.raises(DamagedError):
        storage.get(Blob.ARTIFACT, digest)


def test_a_shared_voice(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party, mallory: Party
) -> None:
    voice = made(http, alice)
    code = sharing.share_code(Voice.objects.get())
    sharing.accept_share(Actor(None, "user:bob"), bob.tenant, code)

    assert speak(http, bob, voice).status_code == 200
    assert speak(http, mallory, voice).status_code == 400
    assert http.delete(f"/v1/audio/voices/{voice}", headers=bob.headers).status_code == 404
    told = AuditEntry.objects.filter(action="voice.shared")
    assert {(row.tenant.slug, row.actor) for row in told} == {
        ("bob", "user:bob"),
        ("alice", "another account"),
    }
    sharing.end_share(ALICE, alice.tenant, Share.objects.get())
    assert speak(http, bob, voice).status_code == 400


@pytest.mark.parametrize("ender", ["alice", "bob"])
def test_the_end_of_a_share_voids_its_code(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party, ender: str
) -> None:
    made(http, alice)
    code = sharing.share_code(Voice.objects.get())
    bobs = Actor(None, "user:bob")
    sharing.accept_share(bobs, bob.tenant, code)
    party = {"alice": alice, "bob": bob}[ender]
    sharing.end_share(Actor(None, f"user:{ender}"), party.tenant, Share.objects.get())

    with pytest.raises(ApiError) as refused:
        sharing.accept_share(bobs, bob.tenant, code)

    assert (refused.value.code, Share.objects.count()) == ("unknown_share_code", 0)
    sharing.accept_share(bobs, bob.tenant, sharing.share_code(Voice.objects.get()))
    assert Share.objects.get().tenant == bob.tenant


@pytest.mark.parametrize("code", ["", "nonsense", "InZvaWNlXzAi:1vPqGX:forged"])
def test_a_code_that_shares_nothing(alice: Party, code: str) -> None:
    with pytest.raises(ApiError) as refused:
        sharing.accept_share(ALICE, alice.tenant, code)
    assert refused.value.field == "code"


def test_a_hidden_preset_is_not_listed_but_can_be_named(
    http: httpx.Client, engine: ScriptedEngine, alice: Party, bob: Party
) -> None:
    sharing.hide_preset(ALICE, alice.tenant, "Anna")
    ids = [
        {each["id"] for each in http.get("/v1/audio/voices", headers=who.headers).json()["data"]}
        for who in (alice, bob)
    ]
    assert ("Anna" in ids[0], "Anna" in ids[1]) == (False, True)
    assert speak(http, alice, "Anna").status_code == 200


SAILOR = {"name": "Old sailor", "type": "prompt", "prompt": "A hoarse old man"}


@pytest.fixture
def designing(cloning: ScriptedEngine) -> ScriptedEngine:
    cloning.models.append(
        pb.Model(id="scripted-design", kind="voice_design", languages=["english"], fingerprint="d")
    )
    return cloning


def test_a_voice_is_designed_once_and_stays(
    http: httpx.Client, designing: ScriptedEngine, alice: Party
) -> None:
    cloning = designing
    cloning.script.chunks = 20
    answer = http.post("/v1/audio/voices", json=SAILOR, headers=alice.headers).json()
    assert (answer["type"], answer["description"]) == ("prompt", "A hoarse old man")
    start, trial = (heard.start for heard in cloning.heard)
    assert (start.model, start.voice.described) == ("scripted-design", True)
    assert start.instructions == "A hoarse old man"
    assert cloning.encoded[-1].text == start.text
    assert (trial.model, trial.priority) == ("scripted-base", pb.PRIORITY_BACKGROUND)
    assert trial.voice.artifact.data == storage.get(Blob.ARTIFACT, artifact_of(answer["id"]))
    assert speak(http, alice, "old sailor").status_code == 200
    assert cloning.heard[-1].start.model == "scripted-base"


NO_AUDIO = Script(error=pb.Error(code="no_audio", message="no speech", retryable=True))


def artifact_of(voice: str) -> str:
    return VoiceVersion.objects.get(voice__public_id=voice).artifact


@pytest.mark.parametrize("trial", [NO_AUDIO, Script(reason=pb.FINISH_REASON_LENGTH)])
def test_a_design_that_cannot_be_spoken_with_in_context_is_kept_by_its_timbre(
    http: httpx.Client, designing: ScriptedEngine, alice: Party, store: Path, trial: Script
) -> None:
    designing.next_scripts.extend([Script(chunks=20), trial])
    answer = http.post("/v1/audio/voices", json=SAILOR, headers=alice.headers)
    assert answer.status_code == 200
    assert [bool(each.text) for each in designing.encoded] == [True, False]
    assert stored(store) == ["artifact", "clip"]


def test_a_design_that_cannot_be_spoken_with_is_not_kept(
    http: httpx.Client, designing: ScriptedEngine, alice: Party, store: Path
) -> None:
    designing.next_scripts.extend([Script(chunks=20), NO_AUDIO, NO_AUDIO])
    answer = http.post("/v1/audio/voices", json=SAILOR, headers=alice.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_audio")
    assert (stored(store), Voice.objects.count()) == ([], 0)


def test_design_without_its_checkpoint_names_the_kind(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    fields = {"name": "Old sailor", "prompt": "A hoarse old man"}
    answer = http.post("/v1/audio/voices", json=fields, headers=alice.headers)
    assert answer.status_code == 400
    assert "kind voice_design" in answer.json()["error"]["message"]


def test_the_cache_is_bounded_by_bytes() -> None:
    cache = ArtifactCache(most=100)
    for digest, size in (("a", 40), ("b", 40), ("c", 40), ("d", 500)):
        cache.put(digest, bytes(size))
    assert [cache.get(digest) is not None for digest in "abcd"] == [False, True, True, False]
    told = cache.counters()
    assert (told.hits, told.misses, told.evictions) == (2, 2, 1)
    assert (told.entries, told.nbytes, told.most) == (2, 80, 100)
    cache.forget("b", "nothing")
    assert cache.counters().nbytes == 40


def test_what_is_made_anew_replaces_what_another_key_had_signed() -> None:
    """Given an artifact of an engine whose key was changed since, when the same recording is
    encoded again, then the new one is kept: the old one would be refused for ever."""
    storage.put_named(storage.Blob.ARTIFACT, "one", b"by the old key")
    storage.put_named(storage.Blob.ARTIFACT, "one", b"by the new key")
    assert storage.get(storage.Blob.ARTIFACT, "one") == b"by the new key"
