"""The pages of voices and consents, as a browser uses them."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import made, speak, stored
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import PlatformRole
from ttsapp.tenants.services import set_platform_role
from ttsapp.voices import previews, tasks
from ttsapp.voices.models import Consent, Share, Voice

SAMPLE = recordings.wav(recordings.speech())
AGREED = {
    "person": "Ann Archer",
    "relation": "self",
    "name": "Ann for the hotline",
    "purposes": "hotline",
    "territory": "worldwide",
    "expires_on": "2099-12-31",
}
VOICE = {"name": "Ann", "language": "english", "speed": "1", "tags": "warm, hotline"}


def test_from_consent_to_a_voice(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    with browser(base, "alice") as page:
        assert "First, the speaker's consent" in page.get("/console/alice/voices/clone").text
        proof = {"recording": ("signed.pdf", b"%PDF-1.7 signed")}
        recorded = page.post("/console/alice/consents/new", data=AGREED, files=proof)
        clone = page.get(recorded.headers["location"])
        consent = Consent.objects.get()
        assert f'value="{consent.public_id}" selected' in clone.text

        files, sent = {"recording": ("ann.wav", SAMPLE)}, {**VOICE, "consent": consent.public_id}
        cloned = page.post("/console/alice/voices/clone", data=sent, files=files)
        shown = page.get(cloned.headers["location"])
        library = page.get("/console/alice/voices", params={"q": "HOTLINE", "owner": "own"})

    voice = Voice.objects.get()
    assert (voice.name, voice.tags, voice.language) == ("Ann", ["warm", "hotline"], "english")
    assert "0.0 to 6.0 s" in shown.text
    assert "Ann for the hotline" in shown.text
    assert voice.public_id in library.text
    assert "English · version 1 · warm" in library.text
    assert "Anna" not in library.text
    assert speak(http, alice, voice.public_id).status_code == 200


def test_only_what_is_spoken_can_be_chosen(
    base: str, http: httpx.Client, three: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    consent = Consent.objects.get().public_id
    files, sent = {"recording": ("ann.wav", SAMPLE)}, {**VOICE, "name": "Ben", "consent": consent}
    with browser(base, "alice") as page:
        clone = page.get("/console/alice/voices/clone").text
        design = page.get("/console/alice/voices/design").text
        shown = page.get(f"/console/alice/voices/of/{voice}").text
        french = {**sent, "language": "french"}
        refused = page.post("/console/alice/voices/clone", data=french, files=files)
    for text, languages in (
        (clone, ["auto", "german", "english"]),
        (design, ["auto", "english"]),
        (shown, ["auto", "german", "english"]),
    ):
        select = text.partition('name="language"')[2].partition("</select>")[0]
        assert re.findall('value="([a-z]+)"', select) == languages
    assert refused.status_code == 400
    assert "No engine here speaks it: choose another." in refused.text
    assert Voice.objects.count() == 1


def test_withdrawing_tells_which_keys_are_affected(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    consent = Consent.objects.get().public_id
    where = f"/console/alice/consents/of/{consent}/withdraw"
    with browser(base, "alice") as page:
        assert "No key spoke with it in the last 30 days." in page.get(where).text
        assert speak(http, alice, voice).status_code == 200
        eventually(lambda: RequestLog.objects.filter(voice=voice).exists())
        text = page.get(where).text

    assert "They are deleted 30 days later" in text
    assert f"?key={alice.key.public_id}" in text
    assert "</a>: 1 request, 6 characters charged</li>" in text


def test_a_refused_recording_is_told_beside_its_field(
    base: str,
    cloning: ScriptedEngine,
    alice: Party,
    mallory: Party,
    http: httpx.Client,
    store: Path,
) -> None:
    made(http, alice)
    consent = Consent.objects.get().public_id
    before = stored(store)
    with browser(base, "alice") as page:
        files = {"recording": ("ann.wav", recordings.wav(recordings.noise()))}
        sent = {**VOICE, "name": "Berta", "consent": consent}
        answer = page.post("/console/alice/voices/clone", data=sent, files=files)
        checked = page.post("/console/alice/voices/check", files={"recording": SAMPLE})
        refused = page.post("/console/alice/voices/check", files=files)
    assert answer.status_code == 400
    assert "speech stands only" in answer.text
    with browser(base, "mallory") as stranger:
        where = "/console/alice/voices/check"
        assert stranger.post(where, files={"recording": SAMPLE}).status_code == 404
    assert checked.json()["end_ms"] == pytest.approx(5980, abs=100)
    assert refused.json()["error"]["code"] == "audio_noisy"
    assert stored(store) == before


def test_a_voice_is_described_in_the_playground(
    base: str, three: ScriptedEngine, alice: Party
) -> None:
    three.script.chunks = 2
    body = {
        "model": "scripted-design",
        "task_type": "VoiceDesign",
        "input": "Hello.",
        "instructions": "A hoarse old man",
        "response_format": "pcm",
        "stream_format": "sse",
    }
    with browser(base, "alice") as page:
        offered = page.get("/console/alice/playground").text
        spoken = page.post("/console/alice/speak", json=body)
    described = re.search(r'<option value="\(described\)"[^>]*>', offered)
    assert described is not None
    assert 'data-model="scripted-design"' in described[0]
    assert 'data-task="VoiceDesign" data-languages="english"' in described[0]
    assert spoken.status_code == 200
    start = three.heard[-1].start
    assert (start.model, start.voice.described) == ("scripted-design", True)
    assert start.instructions == "A hoarse old man"


def test_the_register_and_the_end(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    speak(http, alice, voice).raise_for_status()
    eventually(lambda: RequestLog.objects.filter(voice=voice).exists())
    where = f"/console/alice/consents/of/{Consent.objects.get().public_id}"
    with browser(base, "alice") as page:
        shown = page.get(where)
        assert "<td>Ann <br>" in page.get("/console/alice/requests").text
        log = RequestLog.objects.get(voice=voice)
        request = page.get(f"/console/alice/requests/{log.pk}").text
        assert 'data-name="Ann"' in page.get("/console/alice/playground").text
        library = page.get("/console/alice/voices").text
        proof = page.get(f"{where}/evidence")
        asked = page.get(f"{where}/withdraw")
        assert Consent.objects.get().withdrawn_at is None
        page.post(f"{where}/withdraw", data={"reason": "asked"})
        ended = page.get(f"/console/alice/voices/of/{voice}")
    assert "1 request, 6 characters" in shown.text
    assert "<td>Ann</td>" in shown.text
    assert f", Ann <code>{voice}</code></dd>" in request
    assert "own, clone of the timbre · English, German" in library
    assert proof.content.startswith(b"%PDF-1.7")
    assert "attachment" in proof.headers["content-disposition"]
    assert "every request for its voices (<strong>" in asked.text
    assert "its consent is withdrawn" in ended.text
    assert AuditEntry.objects.get(action="consent.evidence_opened").actor == "user:alice"
    assert speak(http, alice, voice).json()["error"]["code"] == "consent_withdrawn"


def test_a_voice_is_changed_shared_and_deleted(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party
) -> None:
    voice = made(http, alice)
    where = f"/console/alice/voices/of/{voice}"
    with browser(base, "alice") as page, browser(base, "bob") as other:
        page.post(where, data={**VOICE, "name": "Nanette", "speed": "1.5"})
        code = page.get(where).text.split('<pre tabindex="0"><code>')[1].split("<")[0]
        other.post("/console/bob/voices/share", data={"code": code})
        assert "Nanette" in other.get("/console/bob/voices").text
        assert other.get(f"/console/bob/voices/of/{voice}").status_code == 404
        page.post(f"{where}/unshare", data={"share": str(Share.objects.get().pk)})
        assert "Nanette" not in other.get("/console/bob/voices").text
        page.post(f"{where}/delete")
        assert page.get(where).status_code == 404
    assert Voice.objects.get().speed == 1.5


def test_a_preview_is_made_by_a_worker(
    base: str, cloning: ScriptedEngine, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, str]] = []
    monkeypatch.setattr(tasks.make_previews, "delay", lambda *given: asked.append(given))
    with browser(base, "alice") as page:
        first = page.get("/console/alice/voices/of/Anna/previews/1")
        assert (first.status_code, asked) == (202, [(alice.tenant.pk, "Anna")])
        tasks.make_previews(*asked[0])
        second = page.get("/console/alice/voices/of/Anna/previews/1")
        assert page.get("/console/alice/voices/of/Anna/previews/4").status_code == 404
    assert (second.status_code, second.headers["content-type"]) == (200, "audio/mpeg")


def test_a_preview_that_fails_says_so(
    base: str, cloning: ScriptedEngine, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, str]] = []
    monkeypatch.setattr(tasks.make_previews, "delay", lambda *given: asked.append(given))
    cloning.script = Script(error=pb.Error(code="invalid_request", message="Not today."))
    where = "/console/alice/voices/of/Anna/previews/2"
    tasks.make_previews(alice.tenant.pk, "Anna")
    with browser(base, "alice") as page:
        failed = page.get(where)
        monkeypatch.setattr(previews, "FAILED_SECONDS", 0)
        later = page.get(where)
    assert (failed.status_code, failed.text) == (503, "It could not be spoken: Not today.")
    assert (later.status_code, asked) == (202, [(alice.tenant.pk, "Anna")])


def test_what_the_process_keeps_of_all_tenants_is_for_who_runs_it(
    base: str, engine: ScriptedEngine, alice: Party, bob: Party
) -> None:
    set_platform_role(SYSTEM, alice.user, PlatformRole.AUDITOR)
    with browser(base, "alice") as operator, browser(base, "bob") as tenant:
        seen = operator.get("/console/alice/voices").text
        hidden = tenant.get("/console/bob/voices").text
    assert "Kept in memory" in seen
    assert "Kept in memory" not in hidden


def test_a_preset_is_hidden(base: str, engine: ScriptedEngine, alice: Party) -> None:
    with browser(base, "alice") as page:
        page.post("/console/alice/voices/hide", data={"name": "Anna"})
        assert 'class="pill">hidden' in page.get("/console/alice/voices").text
        assert ">Anna" not in page.get("/console/alice/playground").text
        page.post("/console/alice/voices/hide", data={"name": "Anna", "show": "1"})
        assert ">Anna" in page.get("/console/alice/playground").text
