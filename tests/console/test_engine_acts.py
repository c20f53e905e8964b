"""What an operator does with real engines: on the page, by the API, audited, and what streams
see of it."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import Client
from django.utils import timezone

from gpu_engine.proto import engine_pb2 as pb
from tests.console.conftest import SignIn
from tests.engine.conftest import BASE, CUSTOM
from tests.engine.process import EngineProcess
from tests.parity.tiny_checkpoints import build
from tests.ttsapp.conftest import Party, eventually
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.engine.client import client, close
from ttsapp.engine.voices import EncodedVoice, embed
from ttsapp.errors import ApiError
from ttsapp.speech.segment import Segment
from ttsapp.tenants.models import Tenant
from ttsapp.voices import storage
from ttsapp.voices.clips.evidence import Evidence
from ttsapp.voices.models import Consent, Kind, Relation, Voice
from ttsapp.voices.services.consents import Terms, delete_consent, record_consent
from ttsapp.voices.services.registry import Description, Encoded, add_version, create_voice

WHY = {"reason": "New weights."}


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """Two engines of one checkpoint, and one that clones."""
    root, loop = tmp_path_factory.mktemp("acts"), asyncio.new_event_loop()
    presets, clones = build(CUSTOM, root / "tiny"), build(BASE, root / "tiny-base")
    made = []
    for name, checkpoint in (("one", presets), ("two", presets), ("clones", clones)):
        (folder := root / name).mkdir()
        process = EngineProcess(folder, checkpoint, "--max-streams", "2", "--engine-id", name)
        made.append(loop.run_until_complete(process.__aenter__()))
    yield tuple(process.address for process in made)
    for process in made:
        loop.run_until_complete(process.__aexit__())
    loop.close()


@pytest.fixture
def page(engines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, sign_in: SignIn) -> Client:
    monkeypatch.setattr(settings, "ENGINES", engines)
    return sign_in("operator")


class Asked:
    """As much of an order as a segment needs."""

    text_field, speed = "input", 1.0

    def __init__(self) -> None:
        self.model = pb.Model(id="tiny")

    def start(self, text: str, *, is_complete: bool, max_frames: int = 0) -> pb.Start:
        voice = pb.Voice(preset="ryan")
        return pb.Start(
            model="tiny", voice=voice, text=text, complete=is_complete, max_frames=4, seed=1
        )


def ask(page: Client, url: str, body: dict[str, object]) -> Any:
    """By the management API."""
    return page.post(url, body, content_type="application/json")


def speak() -> int:
    """Bytes of audio of one text, by whichever engine takes it."""

    async def heard() -> int:
        await client().models()
        segment = Segment(Asked(), "Hello there.")
        segment.open()
        try:
            return sum([len(pcm) async for pcm in segment.sound()])
        finally:
            await close()

    return async_to_sync(heard)()


def last() -> AuditEntry:
    entry = AuditEntry.objects.order_by("-id").first()
    assert entry is not None
    return entry


def states(page: Client) -> list[str]:
    return [each["state"] for each in page.get("/api/platform/engines").json()["results"]]


def test_a_drained_engine_leaves_its_work_to_the_others(page: Client) -> None:
    drained = page.post("/platform/engines/1/drain", WHY)
    entry = last()
    shown = page.get("/platform/engines").content.decode()
    heard = speak()
    undrained = page.post("/platform/engines/1/undrain", WHY)

    assert (drained.status_code, drained["Location"]) == (302, "/platform/engines#engine-0")
    assert (entry.action, entry.target, entry.reason) == ("engine.drained", "one", "New weights.")
    assert entry.changes == {"drained": [False, True]}
    assert (entry.actor, entry.tenant) == ("user:operator", None)
    assert "nothing runs any more: it may be stopped" in shown
    assert heard > 0
    assert undrained.status_code == 302
    assert last().changes == {"drained": [True, False]}
    assert states(page) == ["ready"] * 3


def test_with_all_drained_a_request_is_told_that_none_is_ready(page: Client) -> None:
    for number in (1, 2, 3):
        assert ask(page, f"/api/platform/engines/{number}/drain", WHY).status_code == 200
    found, ready = states(page), page.get("/readyz")
    with pytest.raises(ApiError) as refusal:
        speak()
    for number in (1, 2, 3):
        ask(page, f"/api/platform/engines/{number}/undrain", WHY)

    assert found == ["draining"] * 3
    assert (ready.status_code, ready.json()["engine"]) == (503, "draining")
    assert (refusal.value.status, refusal.value.code) == (503, "engine_draining")
    assert "not ready for new work" in refusal.value.message
    assert speak() > 0


def test_a_voice_is_pinned_seen_and_unloaded(page: Client) -> None:
    voice = {"voice": "Ryan", **WHY}
    page.post("/platform/engines/1/pin", voice)
    pinned = last()
    shown = page.get("/platform/engines").content.decode()
    gone = ask(page, "/api/platform/engines/1/unload", voice)

    assert (pinned.action, pinned.target) == ("engine.voice_pinned", "one")
    assert pinned.changes["pinned"] == [False, True]
    assert pinned.changes["entries"][1] > 0
    assert "Voices that stay" in shown
    assert gone.json()["before"]["pinned"] is True
    assert gone.json()["after"] == {"pinned": False, "entries": 0, "bytes": 0}
    assert last().action == "engine.voice_unloaded"


def made(seed: int = 1) -> EncodedVoice:
    """Of an embedding, by the engine that clones."""
    values = np.random.default_rng(seed).normal(size=64).tolist()

    async def embedded() -> EncodedVoice:
        await client().models()
        try:
            return await embed("tiny-base", values)
        finally:
            await close()

    return async_to_sync(embedded)()


def cloned(tenant: Tenant) -> Voice:
    encoded = made()
    storage.put_named(storage.Blob.ARTIFACT, encoded.id, encoded.artifact)
    terms = Terms("Ann", "Ann Archer", Relation.STAFF, "phone menu")
    consent = record_consent(SYSTEM, tenant, terms, Evidence(b"%PDF-1.7 signed", "application/pdf"))
    content = Encoded(encoded.id, "tiny-base", encoded.fingerprint)
    return create_voice(SYSTEM, tenant, Kind.X_VECTOR, Description("Ann"), content, consent)


def test_a_tenants_voice_is_pinned_by_its_id_while_its_consent_holds(
    page: Client, alice: Party
) -> None:
    voice = cloned(alice.tenant)
    asked = {"voice": voice.public_id, **WHY}
    pinned = ask(page, "/api/platform/engines/3/pin", asked)
    seen = page.get("/api/platform/engines").json()["results"][2]["pinned"]
    unpinned = page.post("/platform/engines/3/unpin", asked)
    Consent.objects.update(withdrawn_at=timezone.now())
    refused = ask(page, "/api/platform/engines/3/pin", asked)
    unloaded = ask(page, "/api/platform/engines/3/unload", asked)

    assert (pinned.status_code, pinned.json()["after"]["entries"]) == (200, 2)
    assert [(each["id"], each["name"]) for each in seen] == [(voice.public_id, "Ann (Alice)")]
    assert unpinned.status_code == 302
    assert (refused.status_code, refused.json()["code"]) == (409, "consent_withdrawn")
    assert unloaded.json()["after"] == {"pinned": False, "entries": 0, "bytes": 0}


def test_a_pinned_voice_of_a_deleted_consent_is_let_go_of_by_its_id(
    page: Client, alice: Party
) -> None:
    voice = cloned(alice.tenant)
    asked = {"voice": voice.public_id, **WHY}
    assert ask(page, "/api/platform/engines/3/pin", asked).status_code == 200
    delete_consent(SYSTEM, Consent.objects.get())

    shown = page.get("/platform/engines").content.decode()
    unpinned = ask(page, "/api/platform/engines/3/unpin", asked)
    unloaded = page.post("/platform/engines/3/unload", asked)
    repinned = ask(page, "/api/platform/engines/3/pin", asked)

    assert f'value="{voice.public_id}"' in shown
    assert (unpinned.json()["before"]["pinned"], unpinned.json()["after"]["pinned"]) == (
        True,
        False,
    )
    assert unloaded.status_code == 302
    assert (last().action, last().detail["name"]) == ("engine.voice_unloaded", "Ann (Alice)")
    assert (repinned.status_code, repinned.json()["errors"][0]["field"]) == (400, "voice")


def third_holds(page: Client) -> object:
    return page.get("/api/platform/engines").json()["results"][2]["pinned"]


def test_a_voice_that_got_another_version_is_unpinned_in_all_of_them(
    page: Client, alice: Party
) -> None:
    voice = cloned(alice.tenant)
    asked = {"voice": voice.public_id, **WHY}
    ask(page, "/api/platform/engines/3/pin", asked)
    second = made(seed=2)
    storage.put_named(storage.Blob.ARTIFACT, second.id, second.artifact)
    add_version(SYSTEM, voice, Encoded(second.id, "tiny-base", second.fingerprint))
    ask(page, "/api/platform/engines/3/pin", asked)

    unloaded = ask(page, "/api/platform/engines/3/unload", asked)

    assert (unloaded.json()["before"]["pinned"], unloaded.json()["before"]["entries"]) == (True, 4)
    # and says so with its next heartbeat
    assert eventually(lambda: third_holds(page) == [])


def test_a_tenants_voice_is_refused_by_an_engine_without_its_model(
    page: Client, alice: Party
) -> None:
    asked = {"voice": cloned(alice.tenant).public_id, **WHY}
    answer = ask(page, "/api/platform/engines/1/pin", asked)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "model")


def test_a_voice_that_is_none_is_named(page: Client) -> None:
    rows = AuditEntry.objects.count()
    refused = page.post("/platform/engines/1/pin", {"voice": "nobody", **WHY})
    assert refused.status_code == 400
    assert "The engine has no voice &#x27;nobody&#x27;" in refused.content.decode()
    assert AuditEntry.objects.count() == rows


def test_an_act_without_a_reason_is_refused(page: Client) -> None:
    refused = page.post("/platform/engines/1/drain", {"reason": ""})
    assert refused.status_code == 400
    assert "Reason: This field is required." in refused.content.decode()
    assert states(page) == ["ready"] * 3


def test_an_engine_that_is_none_is_refused(page: Client) -> None:
    answer = ask(page, "/api/platform/engines/4/drain", WHY)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_trace_comes_as_a_file(page: Client) -> None:
    answer = ask(page, "/api/platform/engines/2/trace", {"seconds": 1, **WHY})
    content = json.loads(gzip.decompress(answer.content))
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/gzip"
    assert answer["Content-Disposition"].startswith('attachment; filename="trace-two-')
    assert content["otherData"]["engine"] == "two"
    assert (last().action, last().detail["seconds"]) == ("engine.traced", 1)


def test_a_trace_of_an_hour_is_refused(page: Client) -> None:
    answer = ask(page, "/api/platform/engines/2/trace", {"seconds": 3600, **WHY})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "seconds")


def test_the_page_offers_an_auditor_nothing(
    page: Client, sign_in: SignIn, engines: tuple[str, ...]
) -> None:
    shown = sign_in("auditor").get("/platform/engines").content.decode()
    assert "Drain" in page.get("/platform/engines").content.decode()
    assert "/drain" not in shown
