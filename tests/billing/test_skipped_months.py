"""A month that was spoken in is invoiced, unless somebody says which sum is let go."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from billing.invoices import skipped
from billing.invoices.models import BillingDetails, Seller
from billing.invoices.parties import save_details
from billing.invoices.tasks import issue_all
from billing.prices.uses import next_month
from tests.billing.selling import AFTER, EUR, JULY, JUNE, MAY, customer, price_book, seller, speak
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Tenant

RUNNING = datetime.now(UTC).date().replace(day=1)
NEXT = next_month(RUNNING)


@pytest.fixture
def by(alice: Tenant) -> Seller:
    price_book()
    return seller()


def go_on(tenant: Tenant, by: Seller, month: date, **said: Any) -> BillingDetails:
    return save_details(SYSTEM, tenant, seller=by, name=tenant.name, next_month=month, **said)


def refusal(tenant: Tenant, by: Seller, month: date, **said: Any) -> str:
    with pytest.raises(ApiError) as refused:
        go_on(tenant, by, month, **said)
    assert (refused.value.status, refused.value.field) == (400, "next_month")
    return refused.value.message


def test_a_month_that_is_owed_is_not_skipped(alice: Tenant, by: Seller) -> None:
    customer(alice, by, MAY)
    speak(alice, 480_000)
    assert refusal(alice, by, JULY) == (
        "May 2026 is not invoiced yet, and would never be: choose 2026-05, or write 4.80 EUR under"
        " Never to be invoiced."
    )
    assert BillingDetails.objects.get().next_month == MAY


def test_the_first_month_that_is_owed_is_named(alice: Tenant, by: Seller) -> None:
    customer(alice, by, MAY)
    speak(alice, 480_000, datetime(2026, 6, 10, tzinfo=UTC))
    speak(alice, 100_000, datetime(2026, 7, 10, tzinfo=UTC))
    assert "choose 2026-06, or write 5.80 EUR" in refusal(alice, by, date(2026, 8, 1))


def test_months_without_use_are_skipped(alice: Tenant, by: Seller) -> None:
    customer(alice, by, MAY)
    assert go_on(alice, by, JULY).next_month == JULY


def test_who_means_it_says_the_sum(alice: Tenant, by: Seller) -> None:
    customer(alice, by, MAY)
    speak(alice, 480_000)
    go_on(alice, by, JULY, never_invoiced="4.80 EUR")

    entry = AuditEntry.objects.filter(action="billing.details_changed").latest("pk")
    assert entry.detail == {"never_invoiced": "4.80 EUR", "months": "2026-05"}
    assert entry.changes["next_month"] == ["2026-05-01", "2026-07-01"]
    assert [(each.month, each.total_micros) for each in skipped.owed(alice, JULY)] == [
        (MAY, 4_800_000)
    ]


def test_another_sum_is_no_confirmation(alice: Tenant, by: Seller) -> None:
    customer(alice, by, MAY)
    speak(alice, 480_000)
    assert "write 4.80 EUR" in refusal(alice, by, JULY, never_invoiced="4.79 EUR")


def test_what_was_spoken_before_there_were_details_is_owed_too(alice: Tenant, by: Seller) -> None:
    speak(alice, 480_000)
    assert "May 2026 is not invoiced yet" in refusal(alice, by, JUNE)


def test_the_running_month_is_not_skipped(alice: Tenant, by: Seller) -> None:
    customer(alice, by, RUNNING)
    assert f"choose {RUNNING:%Y-%m}, or write 0.00 " in refusal(alice, by, NEXT)
    assert go_on(alice, by, NEXT, never_invoiced="0.00").next_month == NEXT


def test_months_to_come_are_never_skipped(alice: Tenant, by: Seller) -> None:
    customer(alice, by, RUNNING)
    message = f"Months to come are never left out: choose {NEXT:%Y-%m} at the latest."
    assert refusal(alice, by, next_month(NEXT), never_invoiced="0.00") == message


def test_other_details_are_changed_while_a_month_is_owed(alice: Tenant, by: Seller) -> None:
    customer(alice, by, MAY)
    speak(alice, 480_000)
    details = save_details(SYSTEM, alice, seller=by, name="New name", next_month=MAY)
    assert details.name == "New name"


def test_an_invoiced_month_is_not_owed(alice: Tenant, by: Seller) -> None:
    customer(alice, by, MAY)
    speak(alice, 480_000)
    issue_all(AFTER)
    assert skipped.owed(alice, JULY) == []


def test_another_tenants_months_are_not_owed(alice: Tenant, bob: Tenant, by: Seller) -> None:
    customer(alice, by, MAY)
    speak(bob, 480_000)
    assert go_on(alice, by, JULY).next_month == JULY
    assert [each.total_micros for each in skipped.owed(bob, JULY)] == [48 * EUR // 10]
