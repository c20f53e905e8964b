"""Pages of costs, and what the overview says of money."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

import pytest
from django.http import HttpResponse
from django.test import Client

from billing.costs import services as costs
from billing.costs.models import EngineClass, FixedCost, HourlyPrice, ReferencePrice
from billing.costs.uptime import Beat
from billing.prices.day_sales import add_up
from tests.billing.selling import EUR, MAY, fresh_prices, price_book, speak
from tests.ttsapp.conftest import Party
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.voices.models import Kind, Voice

__all__ = ["fresh_prices"]

TODAY = datetime.now(UTC).date()
TOMORROW = TODAY + timedelta(days=1)
pytestmark = pytest.mark.usefixtures("fresh_prices")


def test_costs_are_set_and_shown(alice: Party, operator: Client) -> None:
    root = "/platform/costs/settings"
    sent = {
        "class": {"name": "H200"},
        "name": {"engine_class": "h200", "name": "H200, ours"},
        "price": {"engine_class": "h200", "valid_from": str(MAY), "per_hour": "6.50"},
        "capacity": {"engine_class": "h200", "characters_per_second": "594"},
        "fixed": {"name": "Rack", "per_month": "310", "valid_from": str(MAY)},
        "reference": {"name": "Elsewhere", "per_million": "30", "source": "their page"},
    }
    for what, fields in sent.items():
        assert operator.post(f"{root}/{what}", fields).status_code == 302, what

    page = operator.get("/platform/costs?since=2026-05-01&until=2026-05-31").content.decode()

    assert '<td class="number">3.04 USD</td><td class="number">6.08 USD</td>' in page
    assert "Elsewhere" in page
    assert "H200, ours" in page
    assert 'data-price="6.5" data-speed="594"' in page
    rows = (HourlyPrice, "price"), (FixedCost, "fixed"), (ReferencePrice, "reference")
    for model, what in rows:
        operator.post(f"{root}/{what}/{model.objects.get().pk}/remove")
        assert not model.objects.exists()


def test_minutes_of_an_engine_are_shown_as_such(operator: Client) -> None:
    at = datetime(2026, 5, 10, tzinfo=UTC)
    costs.note_heartbeats([costs.Heard("one", "H200", Beat(at, 90.0, 3.2))])
    page = operator.get("/platform/costs?since=2026-05-01&until=2026-05-31").content.decode()
    assert '<td class="number">1.5 min</td><td class="number">3.2 s</td>' in page


@pytest.fixture
def h200() -> EngineClass:
    engine_class = costs.add_class(SYSTEM, "H200")
    costs.price_hours(SYSTEM, engine_class, MAY, 6_500_000)
    return engine_class


def price_hours(client: Client, day: date, **fields: str) -> HttpResponse:
    sent = {"engine_class": "h200", "valid_from": f"{day}", "per_hour": "4.29", **fields}
    return client.post("/platform/costs/settings/price", sent)


@pytest.mark.parametrize(
    ("day", "asked"),
    [
        (
            MAY,
            "There is a price from 2026-05-01 on, 6.50 USD: tick this to change it, and what days "
            "that have begun cost.",
        ),
        (
            date(2026, 4, 1),
            "An hour of 2026-04-01 was 6.50 USD: tick this to change what days that have begun "
            "cost.",
        ),
        (
            TODAY,
            f"An hour of {TODAY} was 6.50 USD: tick this to change what days that have begun cost.",
        ),
    ],
)
def test_a_price_that_changes_what_days_have_cost_asks_first(
    operator: Client, h200: EngineClass, day: date, asked: str
) -> None:
    refused = price_hours(operator, day)
    assert refused.status_code == 400
    assert asked in refused.content.decode()
    assert HourlyPrice.objects.get().per_hour_micros == 6_500_000

    assert price_hours(operator, day, is_sure="on").status_code == 302
    assert HourlyPrice.objects.get(valid_from=day).per_hour_micros == 4_290_000
    entry = AuditEntry.objects.filter(action="costs.changed").latest("at")
    before = 6_500_000 if day == MAY else None
    assert entry.changes == {f"per_hour_micros from {day}": [before, 4_290_000]}


def test_a_price_for_days_to_come_asks_nothing_the_first_time(
    operator: Client, h200: EngineClass
) -> None:
    assert price_hours(operator, TOMORROW).status_code == 302
    assert price_hours(operator, TOMORROW).status_code == 302, "the same changes nothing"
    refused = price_hours(operator, TOMORROW, per_hour="5")
    asked = f"There is a price from {TOMORROW} on, 4.29 USD: tick this to change it."
    assert asked in refused.content.decode()


@pytest.mark.parametrize("address", ["/platform", "/platform/"])
def test_the_installations_pages_begin_with_its_overview(operator: Client, address: str) -> None:
    answer = operator.get(address)
    assert (answer.status_code, answer["Location"]) == (302, "/platform/overview")


def test_revenue_in_another_currency_is_named_beside_the_figures(
    alice: Party, operator: Client
) -> None:
    price_book(per_million=10)
    speak(alice.tenant, 250_000)
    add_up([MAY])
    page = operator.get("/platform/costs?since=2026-05-01&until=2026-05-31").content.decode()
    assert "Revenue in other currencies is in no figure here:</strong>2.50 EUR</div>" in page


def test_costs_call_a_clone_by_its_name(alice: Party, operator: Client) -> None:
    voice = Voice.objects.create(tenant=alice.tenant, name="Ann", kind=Kind.X_VECTOR)
    speak(alice.tenant, 100, voice=voice.public_id)
    page = operator.get("/platform/costs/whose?since=2026-05-01&until=2026-05-31").content.decode()
    assert '<th scope="row">Ann (Alice)</th>' in page
    assert voice.public_id not in page


def test_an_engine_that_has_just_begun_was_up_for_minutes(operator: Client) -> None:
    beat = Beat(datetime.now(UTC), 1500.0, 0.0)
    costs.note_heartbeats([costs.Heard("one", "H200", beat)])
    assert (
        '<td class="number">25 min</td>'
        in operator.get("/platform/costs/settings").content.decode()
    )


def test_a_wrong_cost_is_marked_in_its_own_form(alice: Party, operator: Client) -> None:
    fields = {"name": "Rack", "per_month": "1", "valid_from": str(TODAY), "valid_until": str(MAY)}
    page = operator.post("/platform/costs/settings/fixed", fields)
    assert page.status_code == 400
    assert page.content.decode().count('role="alert"') == 1
    assert not FixedCost.objects.exists()


def test_what_is_not_known_is_no_number(alice: Party, operator: Client) -> None:
    """Alice speaks without a price book, and no engine was heard of."""
    speak(alice.tenant, 500, datetime.now(UTC))
    page = operator.get("/platform/costs").content.decode()
    tiles = page[page.index('<dl class="tiles"') : page.index("</dl>")]
    assert "idle \N{EN DASH}, fixed 0.00 USD" in tiles
    assert tiles.count("0.00") == 1
    assert "<dt>Margin</dt><dd>\N{EN DASH}</dd>" in tiles
    start = operator.get("/platform/overview").content.decode()
    assert "<dt>Revenue, this month</dt><dd>\N{EN DASH}</dd>" in start


def tiles(operator: Client) -> str:
    page = operator.get("/platform/overview").content.decode()
    return page[page.index('<dl class="tiles"') : page.index("</dl>")]


def run_engine(seconds: float, per_hour: int) -> None:
    """Up for so long, all of it today, at so many dollars an hour."""
    began = datetime.combine(TODAY, time.min, UTC)
    end = max(datetime.now(UTC), began + timedelta(seconds=seconds))
    for at, up in ((end - timedelta(seconds=seconds), 0.0), (end, seconds)):
        costs.note_heartbeats([costs.Heard("one", "H200", Beat(at, up, up / 2))])
    costs.price_hours(SYSTEM, EngineClass.objects.get(), MAY, per_hour * EUR)


def test_the_overview_has_what_is_known(alice: Party, operator: Client) -> None:
    """A cost of today and none of the days before; a loss as on the page of costs."""
    price_book(per_million=1000, currency="USD")
    speak(alice.tenant, 1_000_000, datetime.now(UTC))
    add_up([TODAY.replace(day=1)])
    run_engine(36.0, 2_000_000)
    found = tiles(operator)
    assert "no cost is known of the 7 days before" in found
    margin = re.search(r"<dd>margin (-[\d,.]+ %)</dd>", found)
    assert margin is not None
    assert (
        f"<dt>Margin</dt><dd>{margin[1]}</dd>" in operator.get("/platform/costs").content.decode()
    )


@pytest.mark.parametrize(
    ("currency", "is_added_up", "note"),
    [
        ("EUR", True, "sold in other currencies: 10.00 EUR"),
        ("EUR", False, "not added up yet"),
        ("", True, "no price book held for what was spoken"),
    ],
)
def test_the_overview_says_why_there_is_no_revenue(
    alice: Party, operator: Client, currency: str, is_added_up: bool, note: str
) -> None:
    if currency:
        price_book(per_million=10, currency=currency)
    speak(alice.tenant, 1_000_000, datetime.now(UTC))
    if is_added_up:
        add_up([TODAY.replace(day=1)])
    assert f"<dt>Revenue, this month</dt><dd>\N{EN DASH}</dd><dd>{note}</dd>" in tiles(operator)


def test_the_days_of_a_period_are_exported(operator: Client) -> None:
    answer = operator.get("/platform/costs.csv?since=2026-05-01&until=2026-05-31")
    lines = answer.content.decode().splitlines()
    assert len(lines) == 32
    assert lines[1].startswith("2026-05-01,USD,0,0,0.000000,")


def test_cost_by_tenant_is_exported(alice: Party, operator: Client) -> None:
    speak(alice.tenant, 500, ms=1500)
    answer = operator.get("/platform/costs/tenants.csv?since=2026-05-01&until=2026-05-31")
    assert answer.content.decode().splitlines() == [
        "name,currency,characters,top_up_characters,engine_ms,cost,revenue,cost_per_million",
        "Alice,USD,500,0,1500,,,",
    ]
