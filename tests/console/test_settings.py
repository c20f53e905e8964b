"""The settings of a tenant and of the installation."""

from __future__ import annotations

import re

import pytest

from billing.models import Retention
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.audit.models import AuditEntry
from ttsapp.tenants import selectors
from ttsapp.tenants.models import PlatformRole, Tenant

PAGE = "/console/alice/settings"


def test_it_works(sign_in: SignIn, alice: Party) -> None:
    sign_in("alice").post(PAGE, {"name": "Alicia", "usage_days": "90"})
    alice.tenant.refresh_from_db()
    assert (alice.tenant.name, Retention.objects.get().days) == ("Alicia", 90)
    changes = AuditEntry.objects.filter(actor="user:alice").order_by("sequence")
    assert [entry.changes for entry in changes] == [
        {"name": ["Alice", "Alicia"]},
        {"days": [None, 90]},
    ]


def test_how_long_audio_is_kept(sign_in: SignIn, alice: Party) -> None:
    owner = sign_in("alice")
    owner.post(PAGE, {"name": "Alice", "audio_hours": "24"})
    owner.post(PAGE, {"name": "Alice", "audio_hours": "24"})
    owner.post(PAGE, {"name": "Alice", "audio_hours": ""})

    changed = AuditEntry.objects.filter(action="retention.audio_changed").order_by("sequence")
    assert [entry.changes for entry in changed] == [
        {"audio_hours": [0, 24]},
        {"audio_hours": [24, 0]},
    ]


@pytest.mark.parametrize("hours", ["-1", "721", "many"])
def test_a_time_that_audio_cannot_be_kept_for(sign_in: SignIn, alice: Party, hours: str) -> None:
    response = sign_in("alice").post(PAGE, {"name": "Alicia", "audio_hours": hours})
    alice.tenant.refresh_from_db()
    assert response.status_code == 400
    assert (alice.tenant.name, alice.tenant.audio_hours) == ("Alice", 0)


def test_the_limits_that_hold_are_shown(sign_in: SignIn, alice: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(requests_per_minute=60)
    page = sign_in("alice").get(PAGE).content.decode()
    shown = re.findall(r"<dd>([^<]*)(?: <small>([^<]*)</small>)?</dd>", page)
    assert shown[-5:] == [
        ("60", ""),
        ("3,000,000", "the installation's"),
        ("1,000", "the installation's"),
        ("no limit", ""),
        ("no limit", ""),
    ]


def test_an_operator_reads_what_an_empty_limit_is(sign_in: SignIn) -> None:
    page = sign_in("operator").get("/platform/tenants/alice").content.decode()
    assert "12,000 requests per minute, 3,000,000 characters per minute" in page


@pytest.mark.parametrize("days", ["61", "3651", "many"])
def test_a_time_that_events_cannot_be_kept_for(sign_in: SignIn, alice: Party, days: str) -> None:
    response = sign_in("alice").post(PAGE, {"name": "Alicia", "usage_days": days})
    alice.tenant.refresh_from_db()
    assert list(response.context["form"].errors) == ["usage_days"]
    assert alice.tenant.name == "Alice"


def test_a_name_that_would_not_be_read(sign_in: SignIn, alice: Party) -> None:
    response = sign_in("alice").post(PAGE, {"name": "\u202eAlicia"})
    alice.tenant.refresh_from_db()
    assert list(response.context["form"].errors) == ["name"]
    assert alice.tenant.name == "Alice"


def test_what_is_not_changed_is_not_audited(sign_in: SignIn, alice: Party) -> None:
    sign_in("alice").post(PAGE, {"name": "Alice", "usage_days": ""})
    assert not AuditEntry.objects.filter(actor="user:alice").exists()


def test_an_operator_gives_and_takes_roles(sign_in: SignIn, alice: Party) -> None:
    operator = sign_in("operator")
    operator.post("/platform/settings", {"username": "alice", "role": "auditor"})
    assert selectors.platform_role(alice.user) is PlatformRole.AUDITOR
    operator.post("/platform/settings", {"username": "alice", "role": "none"})
    assert selectors.platform_role(alice.user) is None


def test_a_role_for_nobody(sign_in: SignIn) -> None:
    fields = {"username": "nobody", "role": "operator"}
    response = sign_in("operator").post("/platform/settings", fields)
    assert response.status_code == 400
    assert list(response.context["form"].errors) == ["username"]
