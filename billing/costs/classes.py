"""Each engine class by itself: what it cost, and what it would cost if it were used more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from billing.costs import formulas, selectors
from billing.costs.figures import ClassFigures, Figures
from billing.costs.models import EngineClass
from billing.costs.selectors import Hours


def by_class(found: Iterable[Hours], total: Figures, target: Fraction) -> tuple[ClassFigures, ...]:
    """Every class there is; `total` is the period's, for what is earned and what is fixed."""
    hours: defaultdict[int, list[Hours]] = defaultdict(list)
    for each in found:
        hours[each.class_id].append(each)
    up = sum((each.up for part in hours.values() for each in part), Fraction(0))
    fixed_per_hour = total.fixed_cost / up if up else Fraction(0)
    speeds = selectors.speeds()
    return tuple(
        _figures(
            row,
            hours[row.pk],
            speeds.get(row.pk),
            total.revenue_per_million,
            fixed_per_hour,
            target,
        )
        for row in selectors.classes()
    )


def _figures(
    row: EngineClass,
    hours: list[Hours],
    speed: Fraction | None,
    earned: Fraction | None,
    fixed_per_hour: Fraction,
    target: Fraction,
) -> ClassFigures:
    price = hours[-1].per_hour if hours else selectors.price_now(row)
    is_unpriced = any(each.per_hour is None for each in hours)
    full = at_target = even = None
    if price is not None and speed:
        full = formulas.at_speed(Fraction(price), speed)
        at_target = formulas.at_speed(Fraction(price), speed, target)
        even = formulas.break_even(formulas.at_speed(price + fixed_per_hour, speed), earned)
    return ClassFigures(
        row.slug,
        row.name,
        sum((each.up for each in hours), Fraction(0)),
        sum((each.busy for each in hours), Fraction(0)),
        None if is_unpriced else sum((each.cost for each in hours), Fraction(0)),
        price,
        speed,
        full,
        at_target,
        even,
    )
