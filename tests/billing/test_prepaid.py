"""Tenants on prepaid credit alone: what they have paid, and what is used up of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from billing.credit import prepaid
from billing.credit.models import Reason
from billing.credit.prepaid import Account
from billing.credit.selectors import balance
from billing.credit.services import book
from billing.invoices import services
from billing.invoices.models import Document, Seller
from billing.invoices.parties import save_details
from billing.invoices.tasks import issue_all
from billing.prices.day_sales import add_up
from billing.prices.rates import Price, Rate, Tier
from billing.prices.selectors import price_list
from billing.prices.services import add_version, agree, create_book
from billing.services import Metered, reserve
from tests.billing.selling import AFTER, EUR, JUNE, MAY, flat, price_book, seller, speak
from ttsapp.alerts.measures import credit
from ttsapp.alerts.models import State
from ttsapp.alerts.rules import BY_CODE
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.ids import uuid7
from ttsapp.tenants.models import Tenant

NOW = datetime(2026, 5, 20, tzinfo=UTC)


@pytest.fixture
def by(alice: Tenant) -> Seller:
    price_book()
    return seller()


def put_on_credit(tenant: Tenant, by: Seller, *, is_prepaid: bool = True) -> None:
    save_details(SYSTEM, tenant, seller=by, name=tenant.name, next_month=MAY, is_prepaid=is_prepaid)


def pay(tenant: Tenant, euros: int, reason: Reason = Reason.PAID) -> None:
    book(SYSTEM, tenant, reason, euros * EUR, "EUR")


def used(tenant: Tenant, at: datetime = NOW) -> int:
    return prepaid.used(tenant.pk, "EUR", at)


def left(tenant: Tenant, at: datetime = NOW) -> int:
    return prepaid.account(tenant.pk, at).left


def test_it_works(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 50)
    speak(alice, 3_000_000)
    account = prepaid.account(alice.pk, NOW)
    assert account == Account(alice.pk, "EUR", 50 * EUR, 30 * EUR)
    assert account.left == 20 * EUR
    add_up([MAY])
    assert list(prepaid.accounts(NOW)) == [account]


def test_the_example_of_the_docs(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 50)
    speak(alice, 3_000_000)
    shown = [left(alice)]
    issue_all(datetime(2026, 6, 2, tzinfo=UTC))
    shown += [left(alice, AFTER), balance(alice, "EUR")]
    speak(alice, 1_999_900, datetime(2026, 6, 10, tzinfo=UTC))
    shown.append(left(alice, AFTER))
    pay(alice, 25)
    shown.append(left(alice, AFTER))
    assert shown == [20 * EUR, 20 * EUR, 20 * EUR, 1000, 25_001_000]
    assert [Price("EUR", 10 * EUR, 0).cost(text) for text in (200, 100)] == [2000, 1000]


def test_who_is_billed_afterwards_has_no_funds(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by, is_prepaid=False)
    pay(alice, 50)
    assert prepaid.funds([alice.pk]) == {}
    assert prepaid.account(alice.pk, NOW) is None
    assert list(prepaid.accounts(NOW)) == []


def test_who_never_paid_has_none(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    assert prepaid.funds([alice.pk])[alice.pk].get("EUR", 0) == 0
    assert left(alice) == 0


def test_what_is_paid_back_is_gone(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 50)
    pay(alice, 20, Reason.REFUNDED)
    assert prepaid.funds([alice.pk]) == {alice.pk: {"EUR": 30 * EUR}}


def refund(tenant: Tenant, micros: int) -> None:
    book(SYSTEM, tenant, Reason.REFUNDED, micros, "EUR")


def test_no_more_is_paid_back_than_is_left(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 50)
    speak(alice, 3_000_000, datetime.now(UTC))
    with pytest.raises(ApiError) as refused:
        refund(alice, 20 * EUR + EUR // 100)
    message = "Only 20.00 EUR is left: the rest is used up, or being spoken."
    assert (refused.value.status, refused.value.field) == (400, "amount")
    assert refused.value.message == message
    assert balance(alice, "EUR") == 50 * EUR
    refund(alice, 20 * EUR)
    assert balance(alice, "EUR") == 30 * EUR


def test_what_is_being_spoken_is_not_paid_back(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 50)
    reserve(Metered(uuid7(), alice.pk, None, "tiny", "Anna", characters=1_000_000))
    with pytest.raises(ApiError, match=r"Only 40\.00 EUR is left"):
        refund(alice, 41 * EUR)
    refund(alice, 40 * EUR)


def test_one_tenants_use_holds_back_nobody_elses_credit(
    alice: Tenant, bob: Tenant, mallory: Tenant, by: Seller
) -> None:
    for tenant in (alice, bob, mallory):
        put_on_credit(tenant, by)
        pay(tenant, 10)
    speak(mallory, 500_000, datetime.now(UTC))
    refund(alice, 10 * EUR)
    refund(bob, 10 * EUR)
    with pytest.raises(ApiError, match=r"Only 5\.00 EUR is left"):
        refund(mallory, 10 * EUR)


def test_who_is_billed_afterwards_is_paid_back_all(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by, is_prepaid=False)
    pay(alice, 50)
    speak(alice, 3_000_000, datetime.now(UTC))
    refund(alice, 50 * EUR)
    assert balance(alice, "EUR") == 0


def test_an_invoice_uses_nothing_up_twice(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 50)
    speak(alice, 3_000_000)
    speak(alice, 500_000, datetime(2026, 6, 10, tzinfo=UTC))
    before = used(alice, AFTER), prepaid.funds([alice.pk])
    assert issue_all(AFTER) == 1
    assert (
        (used(alice, AFTER), prepaid.funds([alice.pk]))
        == before
        == (
            35 * EUR,
            {alice.pk: {"EUR": 50 * EUR}},
        )
    )


def test_what_went_beyond_the_credit_is_on_the_invoice(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 20)
    speak(alice, 3_000_000)
    assert left(alice) == -10 * EUR
    issue_all(AFTER)
    assert Document.objects.get().due_micros == 10 * EUR
    pay(alice, 5)
    assert left(alice, AFTER) == 5 * EUR


def test_what_a_credit_note_puts_back_is_there_again(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 50)
    speak(alice, 3_000_000)
    issue_all(AFTER)
    services.credit(SYSTEM, Document.objects.get(), {1: 10 * EUR}, "A mistake.")
    assert left(alice, AFTER) == 30 * EUR


def test_tiers_go_on_over_the_month(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    tiers = create_book(SYSTEM, "Tiers", "tiers", "EUR")
    rate = Rate("", "", (Tier(0, 10 * EUR), Tier(1_000_000, 8 * EUR)))
    add_version(SYSTEM, tiers, MAY, [rate])
    agree(SYSTEM, alice, tiers, MAY)
    speak(alice, 900_000)
    speak(alice, 600_000, datetime(2026, 5, 11, tzinfo=UTC))
    assert used(alice) == 14 * EUR


def test_months_in_another_currency_use_up_another_purse(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    agree(SYSTEM, alice, price_book("usd", currency="USD"), JUNE)
    speak(alice, 1_000_000)
    speak(alice, 500_000, datetime(2026, 6, 10, tzinfo=UTC))
    assert used(alice, AFTER) == 10 * EUR
    assert prepaid.used(alice.pk, "USD", AFTER) == 5 * EUR


def test_parts_of_a_micro_are_rounded_up(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    half = create_book(SYSTEM, "Half", "half", "EUR")
    add_version(SYSTEM, half, MAY, [Rate("", "", (Tier(0, EUR // 2),))])
    agree(SYSTEM, alice, half, MAY)
    speak(alice, 3)
    assert used(alice) == 2


def test_one_tenants_use_is_not_anothers(
    alice: Tenant, bob: Tenant, mallory: Tenant, by: Seller
) -> None:
    for tenant in (alice, bob, mallory):
        put_on_credit(tenant, by)
    pay(alice, 50)
    speak(bob, 1_000_000)
    assert [left(tenant) for tenant in (alice, bob, mallory)] == [50 * EUR, -10 * EUR, 0]
    add_up([MAY])
    found = {account.tenant_id: account.left for account in prepaid.accounts(NOW)}
    assert found == {alice.pk: 50 * EUR, bob.pk: -10 * EUR, mallory.pk: 0}


def test_funds_of_many_are_one_question(
    alice: Tenant, bob: Tenant, mallory: Tenant, by: Seller
) -> None:
    for tenant in (alice, bob, mallory):
        put_on_credit(tenant, by)
        pay(tenant, 1)
    with CaptureQueriesContext(connection) as asked:
        prepaid.funds([alice.pk, bob.pk, mallory.pk])
    assert len(asked) == 1


def test_being_put_on_credit_is_audited(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    entry = AuditEntry.objects.get(tenant=alice, action="billing.details_changed")
    assert entry.changes["is_prepaid"] == ["", "True"]


@pytest.mark.parametrize(
    ("characters", "micros"), [(0, 0), (1, 200), (20, 200), (21, 210), (1_000_000, 10 * EUR)]
)
def test_a_request_costs_at_least_the_minimum(characters: int, micros: int) -> None:
    assert Price("EUR", 10 * EUR, 20).cost(characters) == micros


def test_a_request_is_held_at_the_dearest_price_of_its_rate(alice: Tenant, by: Seller) -> None:
    tiers = create_book(SYSTEM, "Tiers", "tiers", "EUR")
    cloned = Rate("", "cloned", (Tier(0, 10 * EUR), Tier(1_000_000, 30 * EUR)))
    add_version(SYSTEM, tiers, MAY, [flat(10), cloned])
    agree(SYSTEM, alice, tiers, MAY)
    prices = price_list()
    found = [prices.price(alice.pk, MAY, "tiny", kind) for kind in ("preset", "cloned")]
    assert [each.per_million for each in found] == [10 * EUR, 30 * EUR]


def test_an_alert_comes_before_it_runs_out(alice: Tenant, bob: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    put_on_credit(bob, by)
    pay(alice, 50)
    for day in range(14, 21):
        speak(alice, 500_000, datetime(2026, 5, day, tzinfo=UTC))
    add_up([MAY])

    found = {each.tenant_id: (each.value, each.text) for each in credit(NOW)}

    assert found == {
        alice.pk: (3.0, "15.00 EUR left, for 3.0 days"),
        bob.pk: (0, "0.00 EUR left: requests to speak are refused"),
    }
    states = [BY_CODE["credit"].state(value) for value, _ in found.values()]
    assert states == [State.WARNING, State.ALERT]


def test_the_alert_goes_by_today_where_that_is_worse(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 30)
    speak(alice, 2_000_000, NOW)
    add_up([MAY])
    assert [each.value for each in credit(NOW)] == [0.5]


def test_credit_that_is_not_used_lasts(alice: Tenant, by: Seller) -> None:
    put_on_credit(alice, by)
    pay(alice, 1)
    (found,) = credit(NOW)
    assert (found.value, found.text) == (3650.0, "1.00 EUR left, and none used lately")
    assert BY_CODE["credit"].state(found.value) is State.OK
