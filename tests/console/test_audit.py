"""The audit log: what a row says, that none can vanish unseen, and who reads which."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import QuerySet

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.audit import selectors
from ttsapp.audit.actions import Action
from ttsapp.audit.chain import START, hash_of
from ttsapp.audit.models import AuditDay, AuditEntry
from ttsapp.audit.services import SYSTEM, record
from ttsapp.tenants.services import rename_tenant

AUDIT = "/console/alice/audit"


def rows_of(party: Party) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(tenant=party.tenant).order_by("sequence")


def tamper(sql: str, *values: object) -> None:
    """Past the models, which refuse it."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def test_it_works(sign_in: SignIn, alice: Party) -> None:
    rename_tenant(SYSTEM, alice.tenant, "Alicia")
    page = sign_in("alice").get(f"{AUDIT}?action=tenant.renamed&actor=sys")

    (row,) = page.context["rows"]
    assert (row.entry.sentence, row.entry.actor) == ("renamed the tenant", "system")
    assert [(each.field, each.before, each.after) for each in row.changes] == [
        ("name", "Alice", "Alicia")
    ]


def test_each_row_seals_those_before_it(alice: Party) -> None:
    head = START
    for number, entry in enumerate(rows_of(alice), start=1):
        head = hash_of(head, entry.as_row())
        assert (entry.sequence, entry.hash) == (number, head)
    day = AuditDay.objects.get(scope=str(alice.tenant.pk))
    assert (day.length, day.head) == (3, head)
    assert list(selectors.breaks()) == []


@pytest.mark.parametrize(
    ("sql", "sequence", "why"),
    [
        ("UPDATE audit_auditentry SET target = 'x' WHERE id = %s", 2, "a row was changed"),
        ("DELETE FROM audit_auditentry WHERE id = %s", 2, "a row is missing"),
    ],
)
def test_a_row_that_was_meddled_with(alice: Party, sql: str, sequence: int, why: str) -> None:
    tamper(sql, rows_of(alice)[1].pk.hex)
    (found,) = selectors.breaks()
    assert (found.scope, found.sequence, found.why) == (str(alice.tenant.pk), sequence, why)


def test_rows_cut_off_at_the_end(alice: Party) -> None:
    tamper("DELETE FROM audit_auditentry WHERE id = %s", rows_of(alice)[2].pk.hex)
    (found,) = selectors.breaks(str(alice.tenant.pk))
    assert (found.sequence, found.why) == (3, "rows are missing at the end")


def test_a_day_goes_on_from_the_day_before(alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    first = AuditDay.objects.get(scope=str(alice.tenant.pk))
    tomorrow = rows_of(alice)[0].at + timedelta(days=1)
    monkeypatch.setattr("ttsapp.audit.services.timezone.now", lambda: tomorrow)
    record(SYSTEM, Action.TENANT_RESTORED, alice.tenant, "alice")
    entry = AuditEntry.objects.get(action="tenant.restored")
    assert (entry.sequence, entry.hash) == (1, hash_of(first.head, entry.as_row()))
    assert list(selectors.breaks()) == []


def test_models_refuse_to_change_a_row(alice: Party) -> None:
    with pytest.raises(TypeError, match="never changed"):
        rows_of(alice).update(target="x")
    with pytest.raises(TypeError, match="never deleted"):
        rows_of(alice).delete()


def test_the_command_fails_where_a_chain_does_not_fit(alice: Party) -> None:
    call_command("verify_audit")
    tamper("UPDATE audit_auditentry SET actor = 'x' WHERE id = %s", rows_of(alice)[0].pk.hex)
    with pytest.raises(CommandError, match="1 days do not fit"):
        call_command("verify_audit")


async def _whole(response: Any) -> bytes:
    return b"".join([part async for part in response])


def test_an_export_can_be_checked_anywhere(
    transactional_db: None, sign_in: SignIn, alice: Party, bob: Party
) -> None:
    response = sign_in("alice").get(f"{AUDIT}.jsonl")
    rows = [json.loads(line) for line in async_to_sync(_whole)(response).splitlines()][::-1]

    head = START
    for row in rows:
        head = hash_of(head, row)
        assert row["hash"] == head
    assert {row["tenant"] for row in rows} == {alice.tenant.pk}
    assert rows[-1]["action"] == "audit.exported"


def test_three_tenants_read_only_their_own(
    sign_in: SignIn, alice: Party, bob: Party, mallory: Party
) -> None:
    for party in (alice, bob, mallory):
        name = party.tenant.slug
        page = sign_in(name).get(f"/console/{name}/audit")
        assert {row.entry.tenant for row in page.context["rows"]} == {party.tenant}


def test_an_auditor_reads_all_of_it(sign_in: SignIn, alice: Party, mallory: Party) -> None:
    page = sign_in("auditor").get("/platform/audit?check")
    tenants = {row.entry.tenant for row in page.context["rows"]}
    assert tenants == {alice.tenant, mallory.tenant, None}
    assert page.context["breaks"] == []


def test_pages_go_back_by_fifty(sign_in: SignIn, alice: Party) -> None:
    for number in range(60):
        record(SYSTEM, Action.WORD_ADDED, alice.tenant, f"word {number}")
    client = sign_in("alice")
    first = client.get(f"{AUDIT}?action=word.added")
    second = client.get(f"{AUDIT}?{first.context['older']}")
    assert [len(page.context["rows"]) for page in (first, second)] == [50, 10]
