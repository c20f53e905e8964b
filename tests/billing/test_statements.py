"""What is written in few statements arrives as it was."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from billing.models import UsageEvent
from billing.statements import insert_new
from tests.billing.used import use
from ttsapp.idempotency.models import KeyedRequest
from ttsapp.ids import uuid7
from ttsapp.tenants.models import Tenant

ODD = ('"', "\\", '\\"', "{}", "{a,b}", "NULL", "", " ", ",", "'", "%s", "ü 語 🎧", "line\nbreak")
NOW = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize("text", ODD)
def test_text_of_any_kind(alice: Tenant, text: str) -> None:
    use(alice, NOW, voice=text, finish_reason="stop")
    event = UsageEvent.objects.get()
    assert (event.voice, event.started_at.date(), event.key_id) == (text, NOW.date(), None)


def answer(tenant: Tenant, **fields: object) -> dict[str, object]:
    usual = {"fingerprint": "f", "request_id": uuid7(), "is_running": False, "leased_until": NOW}
    times = {"created_at": NOW, "expires_at": NOW}
    kept = {"headers": {}, "body": None, "size": 0}
    return {"id": uuid7(), "tenant_id": tenant.pk, **usual, **times, **kept, **fields}


def test_bytes_json_truth_and_moments(alice: Tenant) -> None:
    rows = [
        answer(alice, body=b'\x00\xff"\\', headers={"a": '"\\{}'}, is_running=True),
        answer(alice, body=None, headers={}),
    ]
    ids = [row["id"] for row in rows]
    assert insert_new(KeyedRequest, rows) == set(ids)
    found = {row.pk: row for row in KeyedRequest.objects.all()}
    assert bytes(found[ids[0]].body) == b'\x00\xff"\\'
    assert (found[ids[0]].headers, found[ids[0]].is_running) == ({"a": '"\\{}'}, True)
    assert (found[ids[1]].body, found[ids[1]].headers) == (None, {})
    assert {row.created_at for row in found.values()} == {NOW}
