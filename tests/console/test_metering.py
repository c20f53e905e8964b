"""Whether what is counted adds up: at a glance, side by side, and on demand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from billing.invoices.tasks import issue_all
from billing.models import Finding, LedgerCheck, Rollup
from billing.tasks import check_ledger, reconcile
from billing.upkeep import checks, reconciliation
from tests.billing.selling import customer, price_book, seller
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


def test_what_is_compared_is_named_as_it_is_charged(operator: Client, alice: Party) -> None:
    """An invoice has what a minimum charges on top, and the sums that budgets are read from not."""
    month = timezone.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    price_book(per_million=1000, minimum=20)
    customer(alice.tenant, seller(), (month - timedelta(days=1)).date().replace(day=1))
    use(alice.tenant, month - timedelta(days=1), 5)
    issue_all(month + timedelta(days=1))
    check = checks.plan(month - timedelta(days=1), month)
    checks.run(check)

    page = shown(operator)

    numbers = '<td class="number">{0}</td><td class="number">{0}</td>'
    assert f"Hourly sums</th> <td>charged</td> {numbers.format(5)}" in page
    on_top = "charged, and on top for a minimum"
    assert f"Invoices</th> <td>{on_top}</td> {numbers.format(20)}" in page


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


def test_asked_for_twice_it_is_checked_once(
    operator: Client, alice: Party, queued: list[str]
) -> None:
    for _ in range(2):
        assert operator.post("/platform/metering", {"days": "2"}).status_code == 302
    [check] = LedgerCheck.objects.all()
    assert queued == [str(check.pk)]
    assert AuditEntry.objects.filter(action="metering.checked").count() == 1
    assert 'type="submit" disabled>Check now' in shown(operator)


def test_when_it_has_ended_another_is_asked_for(
    operator: Client, alice: Party, queued: list[str]
) -> None:
    operator.post("/platform/metering", {"days": "2"})
    check_ledger(queued[0])
    assert 'type="submit">Check now' in shown(operator)
    operator.post("/platform/metering", {"days": "2"})
    assert len(queued) == LedgerCheck.objects.count() == 2


def test_one_that_the_schedule_runs_stands_in_nobodys_way(
    operator: Client, alice: Party, queued: list[str]
) -> None:
    now = timezone.now()
    checks.plan(now, now)
    operator.post("/platform/metering", {"days": "2"})
    assert len(queued) == 1


def test_one_that_no_worker_ends_stands_in_the_way_for_two_hours(
    operator: Client, alice: Party, queued: list[str]
) -> None:
    now = timezone.now()
    lost = checks.plan(now, now, "user:operator")
    operator.post("/platform/metering", {"days": "2"})
    assert queued == []
    LedgerCheck.objects.update(asked_at=now - timedelta(hours=2, seconds=1))
    operator.post("/platform/metering", {"days": "2"})
    lost.refresh_from_db()
    assert (len(queued), lost.problem) == (1, "no worker has ended it")


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
