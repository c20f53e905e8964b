"""What a report of costs says: money in micros of the installation's currency, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction

from billing.costs import formulas


@dataclass(frozen=True, slots=True)
class Charged:
    """Characters: of texts that were spoken, and on top of them for a price's minimum."""

    spoken: int = 0
    top_ups: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """`characters`: charged ones, which somebody heard; `top_ups`: charged on top of them for a
    price's minimum, of which a machine knows nothing. `up`: hours of engines, of which `unpriced`
    have no price. `sold`: None where no price in the installation's currency holds.

    What is not known is None, and never 0: the cost of hours without a price or that nobody heard
    of, and the revenue of what was spoken without one."""

    characters: int
    busy: Fraction
    idle: Fraction
    fixed_cost: Fraction
    sold: Fraction | None
    up: Fraction
    unpriced: Fraction
    top_ups: int = field(default=0, kw_only=True)

    @property
    def busy_cost(self) -> Fraction | None:
        return self.busy if self._is_cost_known else None

    @property
    def idle_cost(self) -> Fraction | None:
        return self.idle if self._is_cost_known else None

    @property
    def engine_cost(self) -> Fraction | None:
        return self.busy + self.idle if self._is_cost_known else None

    @property
    def cost(self) -> Fraction | None:
        return self.busy + self.idle + self.fixed_cost if self._is_cost_known else None

    @property
    def revenue(self) -> Fraction | None:
        return Fraction(0) if self.sold is None and not self.characters else self.sold

    @property
    def _is_cost_known(self) -> bool:
        return not self.unpriced and bool(self.up or not self.characters)

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
    cost: Fraction | None
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
    is shared out like busy time. `spent`: on everybody."""

    name: str
    characters: int
    gpu_ms: int
    share: Fraction
    spent: Fraction | None
    revenue: Fraction | None = None
    top_ups: int = 0

    @property
    def cost(self) -> Fraction | None:
        """Reckoned where it is shown: of a thousand tenants a page has fifty."""
        return None if self.spent is None else self.share * self.spent

    @property
    def cost_per_million(self) -> Fraction | None:
        return formulas.per_million(self.cost, self.characters)

    @property
    def margin(self) -> Fraction | None:
        return formulas.margin(self.revenue, self.cost)


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

    @property
    def last(self) -> date:
        """The last day that is in it."""
        return self.until - timedelta(days=1)
