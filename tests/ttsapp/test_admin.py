"""The stock admin: opens everywhere, changes through services only, and never edits facts."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from billing import services as billing
from billing.models import Reservation, Retention, UsageEvent
from billing.rating import Outcome
from billing.services import Metered, Usage
from billing.upkeep.guard import opened
from tests.ttsapp.conftest import PASSWORD, Party
from ttsapp import ids
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.keys.models import ApiKey
from ttsapp.speech.models import RequestLog
from ttsapp.speech.services import log_refusal
from ttsapp.tenants.models import Membership, Tenant
from ttsapp.tenants.services import suspend_tenant

OURS = (Tenant, Membership, ApiKey, AuditEntry, RequestLog, UsageEvent, Reservation)
FACTS = (AuditEntry, RequestLog, UsageEvent, Reservation)


@pytest.fixture
def staff(alice: Party) -> Client:
    User.objects.create_superuser("root", password=PASSWORD)
    client = Client()
    assert client.login(username="root", password=PASSWORD)
    return client


@pytest.fixture
def rows(alice: Party) -> None:
    """One row of everything."""
    caller = Caller(alice.tenant.pk, alice.key.pk, "test")
    log_refusal(ids.uuid7(), caller, "http", ApiError(400, "unknown_voice", "no", field="voice"))
    metered = Metered(ids.uuid7(), alice.tenant.pk, alice.key.pk, "model", "Anna")
    billing.reserve(Metered(ids.uuid7(), alice.tenant.pk, None, "model", "Anna"))
    billing.settle(metered, Usage(Outcome.COMPLETED, characters=3, billed_characters=3))


def url(model: type, page: str, *args: object) -> str:
    name = f"{model._meta.app_label}_{model._meta.model_name}_{page}"
    return reverse(f"admin:{name}", args=args)


def test_every_model_of_ours_is_there() -> None:
    assert all(model in admin.site._registry for model in OURS)


@pytest.mark.parametrize("model", OURS)
def test_lists_and_rows_open(staff: Client, rows: None, model: type) -> None:
    assert staff.get(url(model, "changelist")).status_code == 200
    assert staff.get(url(model, "change", model.objects.first().pk)).status_code == 200


@pytest.mark.parametrize("model", FACTS)
def test_facts_are_not_added_edited_or_deleted(staff: Client, rows: None, model: type) -> None:
    row = model.objects.first()
    assert staff.get(url(model, "add")).status_code == 403
    assert staff.post(url(model, "change", row.pk), {"characters": 9}).status_code == 403
    assert staff.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_figures_are_rounded_and_have_units(staff: Client, rows: None) -> None:
    with opened():
        UsageEvent.objects.update(audio_ms=6543, talker_ms=1234.56789)
    listed = staff.get(url(UsageEvent, "changelist")).content.decode()
    page = staff.get(url(UsageEvent, "change", UsageEvent.objects.get().pk)).content.decode()
    assert "Audio delivered, s" in listed
    assert ">6.5</td>" in listed
    assert "1,234.6" in page
    assert "1234.56789" not in page


def test_the_pages_have_our_name(staff: Client) -> None:
    page = staff.get("/admin/").content.decode()
    assert "Parlance administration" in page
    assert 'href="/console/"' in page


def test_the_reason_of_a_suspension_is_kept_and_audited(staff: Client, alice: Party) -> None:
    fields = {"action": "suspend", "_selected_action": alice.tenant.pk, "reason": " Unpaid. "}
    staff.post(url(Tenant, "changelist"), fields)
    alice.tenant.refresh_from_db()
    assert alice.tenant.suspended_because == "Unpaid."
    assert AuditEntry.objects.get(action="tenant.suspended").reason == "Unpaid."

    staff.post(url(Tenant, "changelist"), {**fields, "action": "restore"})
    alice.tenant.refresh_from_db()
    assert (alice.tenant.suspended_at, alice.tenant.suspended_because) == (None, "")


def test_the_hash_of_a_key_is_not_shown(staff: Client, alice: Party) -> None:
    page = staff.get(url(ApiKey, "change", alice.key.pk)).content.decode()
    assert "secret_hash" not in page


def test_a_suspended_accounts_key_is_not_changed(staff: Client, alice: Party) -> None:
    suspend_tenant(SYSTEM, alice.tenant)
    answer = staff.post(url(ApiKey, "change", alice.key.pk), {"scopes": ["read"]})
    alice.key.refresh_from_db()
    assert (answer.status_code, alice.key.scopes) == (403, ["speech", "read"])


def test_a_tenant_is_made_and_renamed_with_an_audit_row(staff: Client) -> None:
    staff.post(url(Tenant, "add"), {"name": "Carol", "slug": "carol", "engine_share": 1})
    carol = Tenant.objects.get(slug="carol")
    staff.post(url(Tenant, "change", carol.pk), {"name": "Caroline", "engine_share": 1})

    carol.refresh_from_db()
    assert carol.name == "Caroline"
    entries = AuditEntry.objects.filter(tenant=carol).values_list("action", "actor")
    assert list(entries) == [("tenant.renamed", "user:root"), ("tenant.created", "user:root")]


def test_a_tenant_is_never_deleted(staff: Client, alice: Party) -> None:
    response = staff.post(url(Tenant, "delete", alice.tenant.pk), {"post": "yes"})
    assert response.status_code == 403


def test_members_come_change_and_go_with_audit_rows(staff: Client, alice: Party) -> None:
    user = User.objects.create_user("dora", password=PASSWORD)
    fields = {"tenant": alice.tenant.pk, "user": user.pk, "role": "viewer"}
    staff.post(url(Membership, "add"), fields)
    membership = Membership.objects.get(user=user)
    staff.post(url(Membership, "change", membership.pk), {"role": "admin"})
    membership.refresh_from_db()
    assert membership.role == "admin"
    staff.post(url(Membership, "delete", membership.pk), {"post": "yes"})

    assert not Membership.objects.filter(user=user).exists()
    actions = AuditEntry.objects.filter(target="dora").values_list("action", flat=True)
    assert list(actions) == ["member.removed", "member.role_changed", "member.added"]


@pytest.mark.parametrize(
    ("model", "action", "audited"),
    [(Tenant, "suspend", "tenant.suspended"), (ApiKey, "revoke", "key.revoked")],
)
def test_actions_are_audited(
    staff: Client, alice: Party, model: type, action: str, audited: str
) -> None:
    chosen = model.objects.first()
    staff.post(url(model, "changelist"), {"action": action, "_selected_action": chosen.pk})
    assert AuditEntry.objects.filter(action=audited, actor="user:root").count() == 1


def test_who_may_only_look_cannot_revoke(alice: Party) -> None:
    clerk = User.objects.create_user("clerk", password=PASSWORD, is_staff=True)
    clerk.user_permissions.add(Permission.objects.get(codename="view_apikey"))
    client = Client()
    client.login(username="clerk", password=PASSWORD)

    fields = {"action": "revoke", "_selected_action": alice.key.pk}
    client.post(url(ApiKey, "changelist"), fields)

    assert ApiKey.objects.get().revoked_at is None


def test_a_member_is_not_staff(alice: Party) -> None:
    client = Client()
    client.login(username="alice", password=PASSWORD)
    assert client.get("/admin/").status_code == 302


LIMITS = {
    "requests_per_minute": "60",
    "characters_per_minute": "",
    "concurrent_streams": "4",
    "soft_monthly_characters": "900",
    "hard_monthly_characters": "1000",
}


def test_a_tenants_limits(staff: Client, alice: Party) -> None:
    fields = {"name": "Alice", "engine_share": 1, **LIMITS}
    staff.post(url(Tenant, "change", alice.tenant.pk), fields)
    alice.tenant.refresh_from_db()
    limits = alice.tenant.limits
    assert (limits.requests_per_minute, limits.characters_per_minute) == (60, None)
    assert (limits.soft_monthly_characters, limits.hard_monthly_characters) == (900, 1000)
    entry = AuditEntry.objects.get(action="tenant.limited")
    assert (entry.actor, entry.changes["concurrent_streams"]) == ("user:root", [None, 4])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("requests_per_minute", "0"),
        ("requests_per_minute", "-1"),
        ("soft_monthly_characters", "1001"),
    ],
)
def test_a_limit_that_makes_no_sense(staff: Client, alice: Party, field: str, value: str) -> None:
    fields = {"name": "Alice", "engine_share": 1, **LIMITS, field: value}
    page = staff.post(url(Tenant, "change", alice.tenant.pk), fields)
    assert page.status_code == 200
    assert field in page.context["adminform"].form.errors
    alice.tenant.refresh_from_db()
    assert alice.tenant.requests_per_minute is None


def test_a_tenant_made_with_limits(staff: Client) -> None:
    staff.post(url(Tenant, "add"), {"name": "New", "slug": "new", "engine_share": 1, **LIMITS})
    assert Tenant.objects.get(slug="new").limits.requests_per_minute == 60


def test_what_a_key_may_do(staff: Client, alice: Party) -> None:
    rules = {"scopes": ["read"], "allowed_networks": "10.0.0.0/8", "expires_at_0": "", **LIMITS}
    staff.post(url(ApiKey, "change", alice.key.pk), rules)
    alice.key.refresh_from_db()
    assert (alice.key.scopes, alice.key.allowed_networks) == (["read"], ["10.0.0.0/8"])
    assert (alice.key.name, alice.key.concurrent_streams) == ("alice's key", 4)
    entry = AuditEntry.objects.get(action="key.changed")
    assert (entry.actor, entry.changes["scopes"]) == ("user:root", [["speech", "read"], ["read"]])


def test_keys_are_neither_added_nor_deleted_here(staff: Client, alice: Party) -> None:
    assert staff.get(url(ApiKey, "add")).status_code == 403
    assert staff.post(url(ApiKey, "delete", alice.key.pk), {"post": "yes"}).status_code == 403
    assert ApiKey.objects.count() == 1


def test_a_keys_secret_is_not_shown(staff: Client, alice: Party) -> None:
    page = staff.get(url(ApiKey, "change", alice.key.pk))
    assert "secret_hash" not in page.text
    assert "previous_hash" not in page.text


def test_how_long_events_are_kept_is_set_and_audited(staff: Client, alice: Party) -> None:
    staff.post(url(Retention, "add"), {"tenant": alice.tenant.pk, "days": 61})
    assert not Retention.objects.exists()

    staff.post(url(Retention, "add"), {"tenant": alice.tenant.pk, "days": 62})
    staff.post(url(Retention, "change", alice.tenant.pk), {"days": ""})

    assert Retention.objects.get().days is None
    entries = AuditEntry.objects.filter(action="retention.changed").order_by("pk")
    assert [entry.changes["days"] for entry in entries] == [[None, 62], [62, None]]
