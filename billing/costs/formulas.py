"""Unit costs. Money is in micros; everything is exact until it is shown. No database, no clock.

The whole of it: a million characters cost 1e6 * P / (3600 * T * U), where P is the price of an
hour of the engines that are up, T what they say in a second, and U the share of T that is used."""

from __future__ import annotations

from fractions import Fraction

MILLION = 1_000_000


def per_million(cost: Fraction | None, characters: int) -> Fraction | None:
    """None where nothing was said, or the cost is not known: no number would be true."""
    return cost * MILLION / characters if characters and cost is not None else None


def at_speed(
    per_hour: Fraction, characters_per_second: Fraction, utilisation: Fraction = Fraction(1)
) -> Fraction:
    """A million characters by an engine that is used that much of its time."""
    return per_hour * MILLION / (3600 * characters_per_second * utilisation)


def margin(revenue: Fraction | None, cost: Fraction | None) -> Fraction | None:
    """The share of the revenue that is left; None where either is not known."""
    return (revenue - cost) / revenue if revenue and cost is not None else None


def break_even(at_full_load: Fraction, revenue_per_million: Fraction | None) -> Fraction | None:
    """The utilisation from which on a million characters earns what it costs. Above 1: never."""
    return at_full_load / revenue_per_million if revenue_per_million else None
