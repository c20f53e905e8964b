"""All audio that was made under a consent: whole, for its tenant alone, and for good."""

from __future__ import annotations

import csv
import io
from uuid import UUID

import httpx
import pytest

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.test_api import managing
from tests.ttsapp.voices.conftest import made
from ttsapp import ids
from ttsapp.audit.services import SYSTEM
from ttsapp.speech.models import RequestLog
from ttsapp.voices.models import Consent, Voice
from ttsapp.voices.services import consents, registry

MANY = 120  # more than a page has


@pytest.fixture
def spoken(http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party) -> list[str]:
    """Ids of Alice's requests in the one voice that rests on a consent, newest first; she has made
    others, and so has Bob with that voice."""
    voice = made(http, alice)
    said = sorted(ids.uuid7() for _ in range(MANY))
    for each in said:
        log(each, alice, voice, audio_ms=800)
    log(ids.uuid7(), alice, "anna", audio_ms=800)
    log(ids.uuid7(), alice, voice, audio_ms=0)
    log(ids.uuid7(), bob, voice, audio_ms=800)
    return [str(each) for each in reversed(said)]


def log(number: UUID, party: Party, voice: str, *, audio_ms: int) -> None:
    moment = ids.moment(number)
    RequestLog.objects.create(
        id=number,
        tenant=party.tenant,
        key=party.key,
        at=moment,
        transport="http",
        status=200,
        voice=voice,
        audio_ms=audio_ms,
        characters=6,
        finish_reason="stop",
    )


@pytest.fixture(params=["as it is", "its voice deleted", "deleted"])
def agreed(request: pytest.FixtureRequest, spoken: list[str]) -> str:
    """The consent's id, whatever has become of it."""
    row = Consent.objects.get()
    if request.param == "its voice deleted":
        registry.delete_voice(SYSTEM, Voice.objects.get())
    if request.param == "deleted":
        consents.delete_consent(SYSTEM, row)
    return row.public_id


def test_the_file_has_all_of_it(base: str, agreed: str, spoken: list[str]) -> None:
    where = f"/console/alice/consents/of/{agreed}"
    with browser(base, "alice") as page:
        shown, file = page.get(where), page.get(f"{where}/register.csv")
    rows = list(csv.DictReader(io.StringIO(file.text)))
    assert [row["id"] for row in rows] == spoken
    assert {(row["voice"], row["audio_seconds"]) for row in rows} == {("Ann", "0.800")}
    assert "121 requests, 726 characters" in shown.text
    assert "1 of them by accounts that it was shared with" in shown.text
    assert f'href="{where}/register.csv"' in shown.text


def test_the_management_api_has_all_of_it(
    http: httpx.Client, agreed: str, spoken: list[str], alice: Party
) -> None:
    key = {"Authorization": f"Bearer {managing(alice)}"}
    where, found = f"/api/tenants/alice/consents/{agreed}", list[str]()
    page: str | None = f"{where}/register?page_size=100"
    while page:
        answer = http.get(page, headers=key).json()
        found += [row["id"] for row in answer["results"]]
        page = answer["next"]
    assert found == spoken
    told = http.get(where, headers=key).json()
    assert told["made"] == {
        "requests": MANY + 1,
        "characters": 6 * (MANY + 1),
        "audio_ms": 800 * (MANY + 1),
        "by_others": 1,
    }


def test_it_is_nobody_elses(
    base: str, http: httpx.Client, agreed: str, bob: Party, mallory: Party
) -> None:
    for party in (bob, mallory):
        slug, key = party.tenant.slug, {"Authorization": f"Bearer {managing(party)}"}
        for tenant in (slug, "alice"):
            where = f"/api/tenants/{tenant}/consents/{agreed}"
            for path in (where, f"{where}/register"):
                assert http.get(path, headers=key).status_code == 404
            with browser(base, party.user.username) as page:
                console = f"/console/{tenant}/consents/of/{agreed}"
                assert page.get(console).status_code == 404
                assert page.get(f"{console}/register.csv").status_code == 404


def test_a_deleted_one_is_looked_at_and_nothing_else(
    base: str, http: httpx.Client, spoken: list[str], alice: Party
) -> None:
    row = Consent.objects.get()
    with browser(base, "alice") as page:
        where = f"/console/alice/consents/of/{row.public_id}"
        done = page.post(f"{where}/delete")
        shown = page.get(where)
        refused = [page.get(f"{where}/{way}").status_code for way in ("withdraw", "evidence")]
        refused.append(page.post(f"{where}/until", data={"expires_on": ""}).status_code)
    assert (done.status_code, done.headers["location"]) == (302, where)
    assert "(erased)" in shown.text
    assert "Withdraw…" not in shown.text
    assert refused == [404, 404, 404]
    key = {"Authorization": f"Bearer {managing(alice)}"}
    path = f"/api/tenants/alice/consents/{row.public_id}"
    assert http.get(path, headers=key).json()["deleted_at"] is not None
    assert http.delete(path, headers=key).status_code == 404
    listed = http.get("/api/tenants/alice/consents", headers=key).json()
    assert listed["results"] == []
