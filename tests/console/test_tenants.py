"""The installation's tenants, by who runs it."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.audit.models import AuditEntry
from ttsapp.tenants.models import Tenant


def test_it_works(sign_in: SignIn, alice: Party) -> None:
    client = sign_in("operator")
    made = client.post("/platform/tenants", {"name": "Zoe", "slug": "zoe"})
    page = client.get("/platform/tenants?q=zo&state=active")

    assert made.headers["location"] == "/platform/tenants/zoe"
    assert [tenant.slug for tenant in page.context["shown"].object_list] == ["zoe"]
    entry = AuditEntry.objects.get(tenant__slug="zoe")
    assert (entry.action, entry.actor) == ("tenant.created", "user:operator")


def test_members_and_keys_are_counted(sign_in: SignIn, alice: Party) -> None:
    sign_in("viewer")
    page = sign_in("operator").get("/platform/tenants?q=alice")
    (found,) = page.context["shown"].object_list
    assert (found.member_count, found.key_count) == (2, 1)


@pytest.mark.parametrize("slug", ["login", "alice", "no spaces"])
def test_a_name_that_addresses_cannot_have(sign_in: SignIn, slug: str) -> None:
    response = sign_in("operator").post("/platform/tenants", {"name": "X", "slug": slug})
    assert response.status_code == 400
    assert list(response.context["form"].errors) == ["slug"]
    assert Tenant.objects.count() == 2


def test_limits_are_changed_with_what_they_were(sign_in: SignIn, alice: Party) -> None:
    fields = {"name": "Alice", "requests_per_minute": "60"}
    sign_in("operator").post("/platform/tenants/alice", fields)
    entry = AuditEntry.objects.get(action="tenant.limited")
    assert entry.changes == {"requests_per_minute": [None, 60]}
    assert not AuditEntry.objects.filter(action="tenant.renamed").exists()


def test_a_warning_after_the_stop_is_refused(sign_in: SignIn, alice: Party) -> None:
    fields = {"name": "Alice", "soft_monthly_characters": "2", "hard_monthly_characters": "1"}
    response = sign_in("operator").post("/platform/tenants/alice", fields)
    assert response.status_code == 400
    assert list(response.context["form"].errors) == ["soft_monthly_characters"]
    alice.tenant.refresh_from_db()
    assert alice.tenant.hard_monthly_characters is None


@pytest.mark.parametrize(
    ("role", "is_suspended", "said"),
    [
        ("viewer", False, "Your role does not allow this: ask an owner of the account, or whoever"),
        ("alice", True, "This account is suspended: its keys can only be revoked."),
    ],
)
def test_a_refusal_says_whom_to_ask(
    sign_in: SignIn, alice: Party, role: str, is_suspended: bool, said: str
) -> None:
    client = sign_in(role)
    if is_suspended:
        sign_in("operator").post("/platform/tenants/alice/suspend", {"reason": "unpaid"})
    page = client.get(f"/console/alice/keys/{alice.key.public_id}/change")
    assert page.status_code == 403
    assert said in page.content.decode()


def test_who_is_suspended_reads_the_reason_as_a_sentence(sign_in: SignIn, alice: Party) -> None:
    sign_in("operator").post("/platform/tenants/alice/suspend", {"reason": "unpaid"})
    assert "Reason: unpaid.\n" in sign_in("viewer").get("/console/alice").content.decode()


def test_a_suspension_needs_a_reason(sign_in: SignIn, alice: Party) -> None:
    client = sign_in("operator")
    refused = client.post("/platform/tenants/alice/suspend", {"reason": " "})
    assert refused.status_code == 400
    client.post("/platform/tenants/alice/suspend", {"reason": "Unpaid."})
    assert AuditEntry.objects.get(action="tenant.suspended").reason == "Unpaid."
    client.post("/platform/tenants/alice/restore")
    alice.tenant.refresh_from_db()
    assert alice.tenant.suspended_at is None


def test_a_role_over_the_installation_is_given_and_taken(sign_in: SignIn, alice: Party) -> None:
    client = sign_in("alice")
    seen = []
    for role in ("auditor", "operator", "none"):
        call_command("platform_role", role, "alice")
        seen.append(client.get("/platform/webhooks").status_code)
    assert seen == [403, 200, 404]
    entries = AuditEntry.objects.filter(tenant=None, target="alice").order_by("sequence")
    assert [entry.changes["role"] for entry in entries] == [
        [None, "auditor"],
        ["auditor", "operator"],
        ["operator", None],
    ]


def test_nobody_of_that_name(db: None) -> None:
    with pytest.raises(CommandError, match="nobody has the user name zoe"):
        call_command("platform_role", "auditor", "zoe")
