"""Whether what is counted adds up: at a glance, side by side, and on demand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import Finding, LedgerCheck, Rollup
from billing.tasks import check_ledger, reconcile
from billing.upkeep import checks, reconciliation
from tests.billing.used import use
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.audit.models import AuditEntry


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checks that a worker was handed."""
    handed: list[str] = []
    monkeypatch.setattr(check_ledger, "delay", handed.append)
    return handed


@pytest.fixture
def operator(sign_in: SignIn) -> Client:
    return sign_in("operator")


def shown(client: Client, query: str = "") -> str:
    answer = client.get(f"/platform/metering{query}")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_a_ledger_that_adds_up_is_green(operator: Client, alice: Party) -> None:
    use(alice.tenant, timezone.now(), 1234)
    assert "Never checked." in shown(operator)
    reconcile()
    page = shown(operator)
    assert "It adds up." in page
    assert page.count('<td class="number">1,234</td><td class="number">1,234</td>') == 2
    assert ">schedule</td>" in page


def test_a_difference_is_red_and_named(operator: Client, alice: Party) -> None:
    use(alice.tenant, timezone.now(), 100)
    Rollup.objects.filter(grain="day").update(billed_characters=90)
    reconcile()
    page = shown(operator)
    assert "It does not add up." in page
    assert '<td class="number">90</td><td class="number">100</td>' in page
    assert '<span class="pill error">-10</span>' in page
    assert "billed_characters: 90, and its events say 100" in page
    Rollup.objects.update(billed_characters=100)
    reconcile()
    assert "It adds up." in shown(operator)
    assert Finding.objects.filter(resolved_at=None).count() == 0


def test_a_check_is_asked_for_and_run_by_the_worker(
    operator: Client, alice: Party, queued: list[str]
) -> None:
    use(alice.tenant, timezone.now() - timedelta(days=20), 100)
    assert operator.post("/platform/metering", {"days": "35"}).status_code == 302
    [check] = LedgerCheck.objects.all()
    assert queued == [str(check.pk)]
    assert "waiting for the worker" in shown(operator)
    assert check_ledger(queued[0]) == 0
    check.refresh_from_db()
    entry = AuditEntry.objects.order_by("-id").first()
    assert entry is not None
    assert (entry.action, entry.actor, entry.detail["days"]) == (
        "metering.checked",
        "user:operator",
        35,
    )
    assert check.sides == [["hour", 100, 100], ["day", 100, 100]]
    assert "user:operator" in shown(operator)


def test_a_check_that_was_handed_out_twice_runs_once(operator: Client, queued: list[str]) -> None:
    operator.post("/platform/metering", {"days": "2"})
    check_ledger(queued[0])
    ended = LedgerCheck.objects.get().ended_at
    check_ledger(queued[0])
    assert LedgerCheck.objects.get().ended_at == ended


def test_too_many_days_are_refused(operator: Client, queued: list[str]) -> None:
    answer = operator.post("/platform/metering", {"days": "400"})
    assert answer.status_code == 400
    assert b"less than or equal to 366" in answer.content
    assert (queued, LedgerCheck.objects.count()) == ([], 0)


def test_a_check_that_breaks_off_says_why(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(reconciliation, "note", broken)
    with pytest.raises(RuntimeError):
        reconcile()
    assert "The last check broke off: RuntimeError: the disk is gone" in shown(operator)


def test_a_check_of_long_ago_is_no_green(operator: Client) -> None:
    reconcile()
    LedgerCheck.objects.update(ended_at=timezone.now() - timedelta(hours=3))
    assert checks.standing().state == "late"
    assert "does the worker run?" in shown(operator)


def test_the_history_goes_on_and_is_exported(operator: Client) -> None:
    now = timezone.now()
    for _ in range(51):
        checks.plan(now, now)
    first = LedgerCheck.objects.last()
    assert first is not None
    page = shown(operator)
    older = page.split('href="?before=')[1].split('"')[0]
    assert shown(operator, f"?before={older}").count(">schedule</td>") == 1
    csv = operator.get("/platform/metering.csv")
    assert csv["Content-Type"] == "text/csv; charset=utf-8"
    assert len(csv.content.splitlines()) == 52


def test_an_auditor_looks_and_does_not_ask(sign_in: SignIn, queued: list[str]) -> None:
    auditor = sign_in("auditor")
    assert "Check now" not in shown(auditor)
    assert auditor.post("/platform/metering", {"days": "2"}).status_code == 403
    assert queued == []
