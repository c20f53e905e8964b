"""What a tenant is billed, and what speech costs, by the management API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from billing.credit.models import Reason
from billing.credit.services import book
from billing.invoices.models import BillingDetails
from billing.invoices.tasks import issue_all
from billing.prices.models import DefaultBook
from tests.billing.selling import AFTER, customer, fresh_prices, price_book, seller, speak
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import PlatformRole
from ttsapp.tenants.services import set_platform_role

__all__ = ["fresh_prices"]


@pytest.fixture
def owner(base: str, alice: Party, fresh_prices: None) -> Iterator[httpx.Client]:
    """Alice, with an invoice of May over 3,000,000 characters; she runs the installation too."""
    price_book()
    customer(alice.tenant, seller())
    speak(alice.tenant, 3_000_000)
    issue_all(AFTER)
    set_platform_role(SYSTEM, alice.user, PlatformRole.OPERATOR)
    with browser(base, "alice") as client:
        yield client


def test_it_works(owner: httpx.Client) -> None:
    [found] = owner.get("/api/tenants/alice/documents").json()["results"]
    alone = owner.get(f"/api/tenants/alice/documents/{found['id']}").json()
    month = owner.get("/api/tenants/alice/billing").json()
    costs = owner.get("/api/platform/costs?since=2026-05-01&until=2026-05-31").json()

    assert alone == found
    assert (found["number"], found["total"], found["month"]) == (
        "PAR-000001",
        "30.000000",
        "2026-05-01",
    )
    assert found["still_due"] == "30.000000"
    assert found["lines"] == [
        {
            "text": "Speech",
            "model": "",
            "voice_kind": "",
            "price_version": 1,
            "characters": 3_000_000,
            "per_million": "10.000000",
            "amount": "30.000000",
        }
    ]
    assert (month["currency"], month["total"], month["lines"]) == ("EUR", "0.000000", [])
    assert [part["name"] for part in costs["tenants"]] == ["Alice"]
    assert len(costs["days"]) == 31


def test_the_running_month_is_exact_and_says_what_an_invoice_would_have(
    owner: httpx.Client, alice: Party
) -> None:
    speak(alice.tenant, 560, datetime.now(UTC))
    month = owner.get("/api/tenants/alice/billing").json()
    assert (month["total"], month["invoice_total"]) == ("0.005600", "0.010000")
    assert [line["amount"] for line in month["lines"]] == ["0.005600"]


def test_what_is_left_of_prepaid_credit(owner: httpx.Client, alice: Party) -> None:
    before = owner.get("/api/tenants/alice/billing").json()["credit_left"]
    BillingDetails.objects.filter(tenant=alice.tenant).update(is_prepaid=True)
    book(SYSTEM, alice.tenant, Reason.PAID, 5_000_000, "EUR")
    after = owner.get("/api/tenants/alice/billing").json()["credit_left"]
    assert (before, after) == (None, {"currency": "EUR", "balance": "5.000000"})


def test_what_is_not_known_is_null(owner: httpx.Client) -> None:
    """No engine was heard of; and afterwards no price is in force."""
    total = owner.get("/api/platform/costs?since=2026-05-01&until=2026-05-31").json()["total"]
    unknown = ("busy_cost", "idle_cost", "cost_per_million", "revenue", "margin")
    assert [total[name] for name in unknown] == [None] * 5
    DefaultBook.objects.all().delete()
    month = owner.get("/api/tenants/alice/billing").json()
    assert (month["currency"], month["total"], month["invoice_total"]) == (None, None, None)


def test_both_ends_of_a_period_are_answered_as_they_were_asked(owner: httpx.Client) -> None:
    asked = {"since": "2026-05-01", "until": "2026-05-31"}
    answer = owner.get("/api/platform/costs", params=asked).json()
    assert {name: answer[name] for name in asked} == asked


def test_days_that_are_no_period_are_refused(owner: httpx.Client) -> None:
    answer = owner.get("/api/platform/costs?since=2026-05-02&until=2026-05-01")
    assert answer.status_code == 400
    assert [fault["field"] for fault in answer.json()["errors"]] == ["until"]
