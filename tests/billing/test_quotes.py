"""What one request costs, told before any invoice."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from pytest_django import DjangoAssertNumQueries

from billing.models import UsageEvent
from billing.prices.quotes import Quote, quote, quotes
from billing.prices.rates import ANY, Rate, Tier
from billing.prices.services import add_version, create_book
from tests.billing.selling import EUR, MAY, price_book, speak
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import Tenant


def latest() -> UsageEvent:
    event = UsageEvent.objects.order_by("settled_at").last()
    assert event is not None
    return event


def test_it_works(alice: Tenant) -> None:
    price_book(per_million=15)
    speak(alice, 120)
    assert quote(latest()) == Quote(Fraction(1800), "EUR")


def test_without_a_price_nothing_is_charged(alice: Tenant) -> None:
    speak(alice, 120)
    assert quote(latest()) is None


def test_a_request_pays_the_tier_that_its_month_has_reached(alice: Tenant) -> None:
    book = create_book(SYSTEM, "List", "list", "EUR", is_default=True)
    tiers = (Tier(0, 10 * EUR), Tier(1000, 4 * EUR))
    add_version(SYSTEM, book, date(2026, 1, 1), [Rate(ANY, ANY, tiers)], 0)
    speak(alice, 900)
    speak(alice, 300)

    assert quote(latest()) == Quote(Fraction(100 * 10 + 200 * 4), "EUR")


def test_a_minimum_is_part_of_it(alice: Tenant) -> None:
    price_book(per_million=10, minimum=100)
    speak(alice, 30)
    assert latest().started_at.date().replace(day=1) == MAY
    assert quote(latest()) == Quote(Fraction(1000), "EUR")


def test_a_months_requests_are_quoted_together(
    alice: Tenant, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    price_book(per_million=10)
    for characters in (100, 200, 300):
        speak(alice, characters)
    events = list(UsageEvent.objects.all())
    assert quotes(events)[events[0].pk] == quote(events[0])

    with django_assert_num_queries(1):
        found = quotes(events)
    assert sorted(each.micros for each in found.values()) == [1000, 2000, 3000]
