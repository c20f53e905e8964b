"""Cost, revenue and margin of a month, from the hours engines were up and what was spoken."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from billing.costs import selectors, services
from billing.costs.figures import Report
from billing.costs.models import EngineClass, EngineHour
from billing.costs.report import report, totals
from billing.costs.tasks import heard
from billing.costs.uptime import Beat
from billing.prices.day_sales import add_up
from billing.prices.models import DaySale
from billing.prices.rates import ANY, Rate, Tier
from billing.prices.services import add_version, agree, create_book
from gpu_engine.proto import engine_pb2
from tests.billing.selling import EUR, JUNE, MAY, price_book, speak
from tests.billing.used import use
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import Tenant

Settings = Any  # pytest-django's, which it does not give out
START = datetime(2026, 5, 10, tzinfo=UTC)


@pytest.fixture
def h200(alice: Tenant) -> EngineClass:
    """Up for all of 10 May at 6.50 an hour, at work for six hours of it."""
    day = timedelta(days=1).total_seconds()
    beat = Beat(START + timedelta(days=1), day, day / 4)
    services.note_heartbeats([services.Heard("engine-1", "H200", beat)])
    engine_class = EngineClass.objects.get()
    services.price_hours(SYSTEM, engine_class, MAY, 6_500_000)
    services.note_capacity(SYSTEM, engine_class, Decimal(594), START, "")
    return engine_class


def of_may(settings: Settings) -> Report:
    settings.CURRENCY = "EUR"
    add_up([MAY])
    return report(MAY, JUNE)


def test_it_works(h200: EngineClass, alice: Tenant, settings: Settings) -> None:
    price_book(per_million=20)
    speak(alice, 13_000_000)

    found = of_may(settings)

    total = found.total
    assert (total.characters, total.cost) == (13_000_000, 156 * EUR)
    assert (total.busy_per_million, total.idle_per_million) == (3 * EUR, 9 * EUR)
    assert (total.cost_per_million, total.revenue_per_million) == (12 * EUR, 20 * EUR)
    assert total.margin == Fraction(2, 5)
    assert totals(MAY, JUNE) == total
    [figures] = found.classes
    assert (figures.up_hours, figures.busy_hours) == (24, 6)
    assert figures.utilisation == Fraction(1, 4)
    assert figures.at_full_load is not None
    assert figures.at_target == 2 * figures.at_full_load
    assert round(float(figures.at_full_load) / EUR, 2) == 3.04
    assert figures.break_even == figures.at_full_load / (20 * EUR)
    assert len(found.days) == 31
    assert [day.figures.cost for day in found.days if day.figures.cost] == [156 * EUR]


def test_what_a_minimum_charges_on_top_makes_no_million_cheaper(
    h200: EngineClass, alice: Tenant, settings: Settings
) -> None:
    """156 euros of engine hours for a million characters that were heard, and as many on top."""
    price_book(per_million=100, minimum=2_000_000)
    speak(alice, 1_000_000)

    found = of_may(settings)

    total = found.total
    assert (total.characters, total.top_ups) == (1_000_000, 1_000_000)
    assert total.cost_per_million == total.cost == 156 * EUR
    assert total.revenue_per_million == total.revenue == 200 * EUR
    [figures] = found.classes
    assert figures.break_even == figures.at_full_load / (200 * EUR)
    for part in (*found.tenants, *found.voices):
        assert (part.characters, part.top_ups) == (1_000_000, 1_000_000)
        assert part.cost_per_million == 156 * EUR


@pytest.mark.parametrize(("speed", "hour", "million"), [(594, 6.50, 3.04), (630, 4.29, 1.89)])
def test_the_figures_of_the_docs(
    h200: EngineClass, settings: Settings, speed: int, hour: float, million: float
) -> None:
    services.price_hours(SYSTEM, h200, MAY, round(hour * EUR))
    services.note_capacity(SYSTEM, h200, Decimal(speed), START + timedelta(days=1), "")
    [figures] = of_may(settings).classes
    assert figures.at_full_load is not None
    assert round(float(figures.at_full_load) / EUR, 2) == million


def test_every_part_has_the_same_characters_before_revenue_is_added_up(
    alice: Tenant, bob: Tenant, settings: Settings
) -> None:
    settings.CURRENCY = "EUR"
    speak(alice, 400)
    speak(bob, 77, datetime(2026, 5, 31, 23, 59, tzinfo=UTC))

    found = report(MAY, JUNE)

    assert (found.total.characters, found.total.revenue) == (477, None)
    for parts in (found.tenants, found.voices):
        assert sum(part.characters for part in parts) == 477
    assert [
        (day.day.day, day.figures.characters) for day in found.days if day.figures.characters
    ] == [
        (10, 400),
        (31, 77),
    ]


def test_cost_goes_to_whom_the_engines_worked_for(
    h200: EngineClass, alice: Tenant, bob: Tenant, settings: Settings
) -> None:
    price_book(per_million=20)
    speak(alice, 1_000_000, voice="anna", ms=300)
    speak(bob, 1_000_000, voice="ben", ms=100)

    found = of_may(settings)

    assert [(part.name, part.cost, part.revenue) for part in found.tenants] == [
        ("Alice", 117 * EUR, 20 * EUR),
        ("Bob", 39 * EUR, 20 * EUR),
    ]
    assert [(part.name, part.share) for part in found.voices] == [
        ("anna", Fraction(3, 4)),
        ("ben", Fraction(1, 4)),
    ]


def test_every_modules_time_is_an_engines_work(
    h200: EngineClass, alice: Tenant, bob: Tenant, mallory: Tenant, settings: Settings
) -> None:
    price_book(per_million=20)
    for tenant, name in ((alice, "talker_ms"), (bob, "predictor_ms"), (mallory, "codec_ms")):
        use(tenant, START, 1_000_000, **{name: 100.0})
    costs = [(part.name, part.cost) for part in of_may(settings).tenants]
    assert sorted(costs) == [("Alice", 52 * EUR), ("Bob", 52 * EUR), ("Mallory", 52 * EUR)]


def test_fixed_cost_has_to_be_earned_as_well(
    h200: EngineClass, alice: Tenant, settings: Settings
) -> None:
    """Two hundred and forty over the 24 hours that it was up: 10.00 on top of each hour's 6.50."""
    price_book(per_million=20)
    speak(alice, 1_000_000)
    services.add_fixed_cost(SYSTEM, name="Rack", per_month_micros=240 * EUR, valid_from=MAY)
    [figures] = of_may(settings).classes
    full_load = Fraction(16_500_000 * 1_000_000, 3600 * 594)
    assert figures.break_even == full_load / (20 * EUR)


def test_fixed_cost_is_spread_over_the_days_it_holds(h200: EngineClass, settings: Settings) -> None:
    services.add_fixed_cost(
        SYSTEM, name="Rack", per_month_micros=310 * EUR, valid_from=date(2026, 5, 11)
    )

    found = of_may(settings)

    assert found.total.fixed_cost == 210 * EUR
    assert found.days[9].figures.fixed_cost == 0
    assert found.days[10].figures.fixed_cost == 10 * EUR


def test_a_price_holds_from_its_day_on(h200: EngineClass, settings: Settings) -> None:
    services.price_hours(SYSTEM, h200, date(2026, 5, 10), 1_000_000)
    services.price_hours(SYSTEM, h200, date(2026, 5, 11), 9_000_000)
    assert of_may(settings).total.cost == 24 * EUR


def test_an_engine_without_a_price_is_named(alice: Tenant, settings: Settings) -> None:
    beat = Beat(START, 3600.0, 0.0)
    services.note_heartbeats([services.Heard("engine-1", "H200", beat)])

    found = of_may(settings)

    assert found.unpriced == ("H200",)
    assert found.total.cost is None
    assert [each.cost for each in found.classes] == [None]


def test_without_a_price_of_hours_no_cost_and_no_margin_is_known(
    alice: Tenant, settings: Settings
) -> None:
    services.note_heartbeats([services.Heard("engine-1", "H200", Beat(START, 3600.0, 60.0))])
    price_book(per_million=20)
    speak(alice, 1_000_000)

    found = of_may(settings)

    total, (part,) = found.total, found.tenants
    assert (total.revenue, total.cost, total.busy_cost, total.idle_cost) == (20 * EUR, *[None] * 3)
    assert (total.cost_per_million, total.busy_per_million, total.margin) == (None, None, None)
    assert (part.revenue, part.cost, part.margin) == (20 * EUR, None, None)


def test_what_no_engine_was_heard_for_has_no_known_cost(alice: Tenant, settings: Settings) -> None:
    price_book(per_million=20)
    speak(alice, 1_000_000)
    total = of_may(settings).total
    assert (total.revenue, total.cost, total.margin) == (20 * EUR, None, None)


def test_a_day_that_no_engine_was_heard_on_leaves_the_months_cost_known(
    h200: EngineClass, alice: Tenant, settings: Settings
) -> None:
    speak(alice, 1_000_000)
    speak(alice, 1_000_000, datetime(2026, 5, 20, tzinfo=UTC))
    found = of_may(settings)
    assert found.total.cost == 156 * EUR
    assert [found.days[at].figures.cost for at in (8, 9, 19)] == [0, 156 * EUR, None]


def test_without_a_price_book_no_revenue_and_no_margin_is_known(
    h200: EngineClass, alice: Tenant, settings: Settings
) -> None:
    speak(alice, 1_000_000)
    found = of_may(settings)
    total, (part,) = found.total, found.tenants
    assert (total.cost, total.revenue, total.revenue_per_million) == (156 * EUR, None, None)
    assert (total.margin, part.revenue, part.margin) == (None, None, None)


def test_where_nothing_was_spoken_nothing_was_earned(h200: EngineClass, settings: Settings) -> None:
    total = of_may(settings).total
    assert (total.revenue, total.cost, total.margin) == (0, 156 * EUR, None)


def test_who_pays_counts_beside_who_has_no_price(
    h200: EngineClass, alice: Tenant, bob: Tenant, settings: Settings
) -> None:
    agree(SYSTEM, alice, price_book("own", per_million=20), MAY)
    speak(alice, 1_000_000)
    speak(bob, 1_000_000)
    found = of_may(settings)
    assert found.total.revenue == 20 * EUR
    assert {part.name: part.revenue for part in found.tenants} == {"Alice": 20 * EUR, "Bob": None}


def test_other_currencies_are_told_apart(
    h200: EngineClass, alice: Tenant, settings: Settings
) -> None:
    price_book(per_million=20, currency="JPY")
    speak(alice, 1_000_000)

    found = of_may(settings)

    assert (found.total.revenue, found.total.margin) == (None, None)
    assert found.elsewhere == {"JPY": 20 * EUR}


def test_tiers_count_from_the_first_of_the_month(alice: Tenant, settings: Settings) -> None:
    book = create_book(SYSTEM, "List", "list", "EUR", is_default=True)
    tiers = (Tier(0, 10 * EUR), Tier(1_000_000, 5 * EUR))
    add_version(SYSTEM, book, MAY, [Rate(ANY, ANY, tiers)])
    settings.CURRENCY = "EUR"
    for day in (10, 20):
        speak(alice, 1_000_000, datetime(2026, 5, day, tzinfo=UTC))

    add_up([MAY])

    assert report(date(2026, 5, 15), JUNE).total.revenue == 5 * EUR
    assert report(MAY, JUNE).total.revenue == 15 * EUR


def test_what_two_workers_hear_is_counted_once(alice: Tenant) -> None:
    status = engine_pb2.EngineStatus(engine_id="e", device="cuda", uptime_seconds=60)
    status.modules["talker"].busy_seconds = 20.0
    status.modules["codec"].busy_seconds = 10.0
    answer = heard(status)

    services.note_heartbeats([answer])
    services.note_heartbeats([answer])

    rows = EngineHour.objects.all()
    assert sum(row.up_seconds for row in rows) == pytest.approx(60)
    assert sum(row.busy_seconds for row in rows) == pytest.approx(30)
    assert selectors.engines().get().engine_class.slug == "cuda"


def test_a_moved_engine_stays_where_it_was_put(alice: Tenant) -> None:
    first = services.Heard("e", "cuda", Beat(START, 60.0, 0.0))
    services.note_heartbeats([first])
    rented = services.add_class(SYSTEM, "H200, rented")
    services.move_engine(SYSTEM, "e", rented)
    later = services.Heard("e", "cuda", Beat(START + timedelta(hours=1), 3660.0, 0.0))
    services.note_heartbeats([later])

    by_class = dict(EngineHour.objects.values_list("engine_class__slug", "up_seconds"))
    assert by_class == {"cuda": 60.0, "h200-rented": 3600.0}


def test_days_are_added_up_anew_when_they_get_a_price(
    alice: Tenant, bob: Tenant, settings: Settings
) -> None:
    speak(alice, 1_000_000)
    speak(bob, 2_000_000)
    assert add_up([MAY, JUNE]) == 2
    assert of_may(settings).total.revenue is None

    price_book(per_million=20)
    for _ in range(2):
        assert of_may(settings).total.revenue == 60 * EUR

    rows = DaySale.objects.values_list("tenant__slug", "currency", "characters", "micros")
    assert sorted(rows) == [
        ("alice", "EUR", 1_000_000, 20 * EUR),
        ("bob", "EUR", 2_000_000, 40 * EUR),
    ]


def test_a_capacity_run_is_noted_from_its_report(h200: EngineClass, tmp_path: Path) -> None:
    file = tmp_path / "capacity.json"
    file.write_text('{"characters_per_s": 630.25, "capacity": 12}')

    call_command("note_capacity", str(file), "--engine-class", "h200", stdout=StringIO())

    assert selectors.speeds() == {h200.pk: Fraction("630.25")}


@pytest.mark.parametrize(
    ("report", "slug", "message"),
    [
        ("{", "h200", "is no report"),
        ('{"capacity": 0}', "h200", "is no report"),
        ('{"characters_per_s": 0.0}', "h200", "no rate was served"),
        ('{"characters_per_s": 5}', "h100", "known: h200"),
    ],
)
def test_a_run_that_says_nothing_is_refused(
    h200: EngineClass, tmp_path: Path, report: str, slug: str, message: str
) -> None:
    file = tmp_path / "capacity.json"
    file.write_text(report)
    with pytest.raises(CommandError, match=message):
        call_command("note_capacity", str(file), "--engine-class", slug)
    assert selectors.speeds() == {h200.pk: 594}
