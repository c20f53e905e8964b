"""Template filters for what is counted in micros."""

from __future__ import annotations

from fractions import Fraction

from django import template

from billing import money

register = template.Library()
NONE = "\N{EN DASH}"


@register.filter
def paid(micros: int | None, currency: str) -> str:
    """Exactly: `1,234.50 EUR`."""
    return NONE if micros is None else money.text(int(micros), currency)


@register.filter
def about(micros: Fraction | int | None, currency: str) -> str:
    """Rounded for people, with two more places below one."""
    if micros is None:
        return NONE
    places = money.digits(currency) + (2 if 0 < abs(float(micros)) < money.MICROS else 0)
    return f"{float(micros) / money.MICROS:,.{places}f} {currency}"


@register.filter
def number(micros: Fraction | int | None) -> str:
    """For scripts: a plain number of currency units; empty for nothing."""
    return "" if micros is None else plain(float(micros) / money.MICROS)


@register.filter
def percent(share: Fraction | float | None) -> str:
    return NONE if share is None else f"{100 * float(share):,.1f} %"


@register.filter
def decimal(value: Fraction | float | None, places: int = 1) -> str:
    return NONE if value is None else f"{float(value):,.{places}f}"


@register.filter
def hours(value: Fraction | float) -> str:
    """`24.0 h`, `25.5 min`, `3.2 s`."""
    if value >= 1:
        return f"{float(value):,.1f} h"
    seconds = 3600 * float(value)
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.1f} s"


@register.filter
def plain(value: Fraction | float | None) -> str:
    """Without separators, for fields of forms and for scripts."""
    return "" if value is None else f"{float(value):.6f}".rstrip("0").rstrip(".")
