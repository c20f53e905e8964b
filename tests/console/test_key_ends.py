"""The end of keys: what runs with one that is revoked, and which nobody uses any more."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from billing.services import Metered, reserve
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp import ids
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.models import ApiKey
from ttsapp.keys.services import create_key

UNUSED = "/console/alice/keys/unused"


def key(party: Party, name: str, days: int, used_days: int | None = None) -> ApiKey:
    """Made and last used so many days ago."""
    made, _ = create_key(SYSTEM, party.tenant, name)
    ApiKey.objects.filter(pk=made.pk).update(
        created_at=_ago(days), last_used_at=_ago(used_days) if used_days is not None else None
    )
    made.refresh_from_db()
    return made


def _ago(days: int) -> datetime:
    return timezone.now() - timedelta(days=days, minutes=1)


def test_it_works(sign_in: SignIn, alice: Party) -> None:
    idle, used = key(alice, "Idle", 200, 90), key(alice, "Used", 200, 89)
    page = sign_in("developer").get(UNUSED).content.decode()
    assert "Idle" in page
    assert "Used" not in page
    assert "Expire 1 key<" in page

    answer = sign_in("developer").post(UNUSED, {"days": "90"})

    assert answer["Location"] == "/console/alice/keys"
    idle.refresh_from_db()
    used.refresh_from_db()
    assert (idle.state, used.state) == ("expired", "active")
    entry = AuditEntry.objects.get(action="key.expired")
    assert (entry.actor, entry.target, entry.detail["name"]) == (
        "user:developer",
        idle.hint,
        "Idle",
    )
    assert entry.detail["days"] == 90


def test_a_key_that_was_never_used_counts_from_its_making(sign_in: SignIn, alice: Party) -> None:
    key(alice, "Old", 90)
    key(alice, "Newcomer", 89)
    page = sign_in("developer").get(UNUSED).content.decode()
    assert "Old" in page
    assert "Newcomer" not in page


def test_the_days_are_asked_for(sign_in: SignIn, alice: Party) -> None:
    key(alice, "Idle", 200, 10)
    assert "Idle" in sign_in("developer").get(f"{UNUSED}?days=10").content.decode()
    assert (
        "Every active one was used, or made, within 90 days"
        in sign_in("developer").get(UNUSED).content.decode()
    )


@pytest.mark.parametrize("days", ["0", "-1", "", "soon", "3651"])
def test_days_that_make_no_sense_end_nothing(sign_in: SignIn, alice: Party, days: str) -> None:
    idle = key(alice, "Idle", 200)
    answer = sign_in("developer").post(UNUSED, {"days": days})
    assert answer.status_code == 400
    idle.refresh_from_db()
    assert idle.state == "active"


def test_what_has_ended_already_is_left_alone(sign_in: SignIn, alice: Party) -> None:
    gone = key(alice, "Gone", 200)
    at = _ago(3)
    ApiKey.objects.filter(pk=gone.pk).update(expires_at=at)
    sign_in("developer").post(UNUSED, {"days": "90"})
    gone.refresh_from_db()
    assert gone.expires_at == at
    assert not AuditEntry.objects.filter(action="key.expired").exists()


def test_another_tenants_keys_are_left_alone(sign_in: SignIn, alice: Party, mallory: Party) -> None:
    theirs = key(mallory, "Theirs", 200)
    sign_in("developer").post(UNUSED, {"days": "90"})
    theirs.refresh_from_db()
    assert theirs.state == "active"


@pytest.mark.parametrize(
    ("running", "said"),
    [
        (0, "No stream runs with it at this moment."),
        (1, "1 stream runs with it now: it ends too"),
        (2, "2 streams run with it now: they end too"),
    ],
)
def test_revoking_tells_what_runs(
    sign_in: SignIn, alice: Party, bob: Party, running: int, said: str
) -> None:
    for party, count in ((alice, running), (bob, 3)):
        for _ in range(count):
            reserve(Metered(ids.uuid7(), party.tenant.pk, party.key.pk, "model", "Anna"))
    page = sign_in("developer").get(f"/console/alice/keys/{alice.key.public_id}/revoke")
    assert said in page.content.decode()


def test_the_list_says_by_what_a_key_was_used(sign_in: SignIn, alice: Party) -> None:
    agent = "a-client-with-a-long-name/1.2.3 (linux)"
    ApiKey.objects.filter(pk=alice.key.pk).update(
        last_used_at=timezone.now(), last_used_address="192.0.2.7", last_used_agent=agent
    )
    page = sign_in("viewer").get("/console/alice/keys").content.decode()
    assert f'<small title="{agent}">by a-client-with-a-long-name/1…</small>' in page
