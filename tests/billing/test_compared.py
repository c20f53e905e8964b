"""What the reconciliation compares beside sums and events: invoices, and the limits' counters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from billing.invoices.models import Document
from billing.invoices.tasks import issue_all
from billing.models import Finding, Rollup
from billing.tasks import reconcile
from billing.upkeep import counters, reconciliation
from billing.upkeep.findings import Difference
from tests.billing.selling import AFTER, customer, fresh_prices, price_book, seller, speak
from ttsapp.tenants.models import Tenant

__all__ = ["fresh_prices"]

LATE_IN_MAY = datetime(2026, 5, 30, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def invoiced(alice: Tenant, bob: Tenant, mallory: Tenant, fresh_prices: None) -> Document:
    """Alice's of May, beside Bob's and Mallory's."""
    price_book()
    ours = seller()
    for tenant, characters in ((alice, 3_000_000), (bob, 2_000_000), (mallory, 1_000_000)):
        customer(tenant, ours)
        speak(tenant, characters)
    issue_all(AFTER)
    return Document.objects.get(tenant=alice)


def of_invoices(since: datetime) -> list[Difference]:
    """Of that day and the next, as every hour compares them."""
    found = reconciliation.reconcile(since, since + DAY)
    return [each for each in found if each.check == "invoices"]


def test_an_invoice_has_the_characters_of_its_month(invoiced: Document) -> None:
    assert of_invoices(LATE_IN_MAY) == []


@pytest.mark.parametrize("since", [LATE_IN_MAY, AFTER, datetime(2026, 6, 29, tzinfo=UTC)])
def test_one_that_differs_is_told_to_the_end_of_the_month_after(
    invoiced: Document, alice: Tenant, since: datetime
) -> None:
    speak(alice, 7)
    [found] = of_invoices(since)
    assert found.subject == invoiced.label
    assert found.detail == "3000000 characters invoiced, and the ledger says 3000007"


def test_sums_that_lost_what_was_invoiced_are_told(invoiced: Document, alice: Tenant) -> None:
    Rollup.objects.filter(tenant=alice).delete()
    [found] = of_invoices(LATE_IN_MAY)
    assert found.detail == "3000000 characters invoiced, and the ledger says 0"


def test_every_hour_compares_counters_too(
    alice: Tenant, bob: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "counted", lambda month: {f"t{alice.pk}": 0, f"t{bob.pk}": 3})
    monkeypatch.setattr(counters, "forget", lambda month, subjects: None)
    monkeypatch.setattr(counters, "PAUSE_SECONDS", 0)

    assert reconcile() == 1

    [found] = Finding.objects.all()
    assert (found.check_name, found.subject) == ("counters", f"tenant {bob.pk}")
