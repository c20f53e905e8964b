"""What a report of costs says: money in micros of the installation's currency, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from billing.costs import formulas


@dataclass(frozen=True, slots=True)
class Figures:
    """`characters`: charged ones, a price's minimums included."""

    characters: int
    busy_cost: Fraction
    idle_cost: Fraction
    fixed_cost: Fraction
    revenue: Fraction

    @property
    def cost(self) -> Fraction:
        return self.busy_cost + self.idle_cost + self.fixed_cost

    @property
    def busy_per_million(self) -> Fraction | None:
        return formulas.per_million(self.busy_cost, self.characters)

    @property
    def idle_per_million(self) -> Fraction | None:
        return formulas.per_million(self.idle_cost, self.characters)

    @property
    def fixed_per_million(self) -> Fraction | None:
        return formulas.per_million(self.fixed_cost, self.characters)

    @property
    def cost_per_million(self) -> Fraction | None:
        return formulas.per_million(self.cost, self.characters)

    @property
    def revenue_per_million(self) -> Fraction | None:
        return formulas.per_million(self.revenue, self.characters)

    @property
    def margin(self) -> Fraction | None:
        return formulas.margin(self.revenue, self.cost)


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    figures: Figures


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """One engine class over the period, and what a million characters costs by it when it is used
    fully, and at the target utilisation; None where its speed or price is not known."""

    slug: str
    name: str
    up_hours: Fraction
    busy_hours: Fraction
    cost: Fraction
    per_hour: int | None
    characters_per_second: Fraction | None
    at_full_load: Fraction | None
    at_target: Fraction | None
    break_even: Fraction | None

    @property
    def utilisation(self) -> Fraction | None:
        return self.busy_hours / self.up_hours if self.up_hours else None


@dataclass(frozen=True, slots=True)
class Part:
    """A tenant's or a voice's part of what the engines cost, by the engine time it took. Idle time
    is shared out like busy time."""

    name: str
    characters: int
    gpu_ms: int
    share: Fraction
    cost: Fraction
    revenue: Fraction | None = None

    @property
    def cost_per_million(self) -> Fraction | None:
        return formulas.per_million(self.cost, self.characters)

    @property
    def margin(self) -> Fraction | None:
        return formulas.margin(self.revenue, self.cost) if self.revenue is not None else None


@dataclass(frozen=True, slots=True)
class Report:
    """`elsewhere`: revenue in other currencies, which is in no other figure. `unpriced`: engine
    classes that ran without an hourly price."""

    since: date
    until: date
    currency: str
    total: Figures
    days: tuple[Day, ...]
    classes: tuple[ClassFigures, ...]
    tenants: tuple[Part, ...]
    voices: tuple[Part, ...]
    elsewhere: Mapping[str, int]
    unpriced: tuple[str, ...]
