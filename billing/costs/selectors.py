"""Reading what machines cost and how long they ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from django.db.models import QuerySet, Sum
from django.db.models.functions import TruncDay
from django.utils import timezone

from billing.costs.models import (
    CapacityRun,
    EngineClass,
    EngineHeartbeat,
    EngineHour,
    FixedCost,
    HourlyPrice,
    ReferencePrice,
)
from billing.prices.uses import midnight, months, next_month


@dataclass(frozen=True, slots=True)
class Hours:
    """Of one engine class, on one UTC day. `cost` in micros; 0 where the class has no price."""

    class_id: int
    day: date
    up: Fraction
    busy: Fraction
    per_hour: int | None

    @property
    def cost(self) -> Fraction:
        return self.up * (self.per_hour or 0)

    @property
    def busy_cost(self) -> Fraction:
        return self.busy * (self.per_hour or 0)


def hours(since: date, until: date) -> list[Hours]:
    """By class and UTC day, from `since` to before `until`."""
    rows: Any = EngineHour.objects.filter(hour__gte=midnight(since), hour__lt=midnight(until))
    rows = rows.annotate(day=TruncDay("hour", tzinfo=UTC)).order_by("day", "engine_class_id")
    rows = rows.values("day", "engine_class_id").annotate(
        up=Sum("up_seconds"), busy=Sum("busy_seconds")
    )
    prices = hourly_prices()
    return [_hours(row, prices) for row in rows]


def busy_by_hour(since: datetime) -> dict[datetime, float]:
    """The share of the engines' time that they were at work, all of them together."""
    rows: Any = EngineHour.objects.filter(hour__gte=since).order_by().values("hour")
    sums = rows.annotate(up=Sum("up_seconds"), busy=Sum("busy_seconds"))
    return {row["hour"]: min(1.0, row["busy"] / row["up"]) for row in sums if row["up"]}


def hourly_prices() -> Mapping[int, list[HourlyPrice]]:
    """By engine class, oldest first."""
    found: defaultdict[int, list[HourlyPrice]] = defaultdict(list)
    for price in HourlyPrice.objects.order_by("valid_from"):
        found[price.engine_class_id].append(price)
    return found


def price_on(prices: Iterable[HourlyPrice], day: date) -> int | None:
    """Micros an hour: the last price that has begun; before all of them the first."""
    micros = None
    for price in prices:
        if micros is None or price.valid_from <= day:
            micros = price.per_hour_micros
    return micros


def price_now(engine_class: EngineClass) -> int | None:
    return price_on(engine_class.prices.all(), timezone.now().date())


def fixed_by_day(since: date, until: date) -> dict[date, Fraction]:
    """Micros: a month's fixed cost spread evenly over its days."""
    costs = list(FixedCost.objects.filter(valid_from__lt=until))
    found: dict[date, Fraction] = {}
    for month in months(since, until):
        end = next_month(month)
        days = (end - month).days
        for offset in range(days):
            day = month + timedelta(days=offset)
            if since <= day < until:
                micros = sum(cost.per_month_micros for cost in costs if _is_on(cost, day))
                found[day] = Fraction(micros, days)
    return found


def classes() -> QuerySet[EngineClass]:
    return EngineClass.objects.prefetch_related("prices")


def speeds() -> dict[int, Fraction]:
    """Characters a second by engine class, as the latest capacity run found."""
    runs = CapacityRun.objects.order_by("measured_at")
    return {run.engine_class_id: Fraction(run.characters_per_second) for run in runs}


def engines() -> QuerySet[EngineHeartbeat]:
    """Each engine that was ever heard of, the latest first."""
    return EngineHeartbeat.objects.select_related("engine_class").order_by("-at")


def capacity_runs() -> QuerySet[CapacityRun]:
    return CapacityRun.objects.select_related("engine_class").order_by("-measured_at")


def fixed_costs() -> QuerySet[FixedCost]:
    return FixedCost.objects.order_by("name", "valid_from")


def references() -> QuerySet[ReferencePrice]:
    return ReferencePrice.objects.order_by("per_million_micros")


def _hours(row: dict[str, Any], prices: Mapping[int, list[HourlyPrice]]) -> Hours:
    day, class_id = row["day"].date(), row["engine_class_id"]
    price = price_on(prices.get(class_id, ()), day)
    return Hours(class_id, day, _exact(row["up"]), _exact(row["busy"]), price)


def _exact(seconds: float) -> Fraction:
    """Hours, to the millisecond."""
    return Fraction(round(seconds * 1000), 3_600_000)


def _is_on(cost: FixedCost, day: date) -> bool:
    return cost.valid_from <= day and (cost.valid_until is None or day < cost.valid_until)
