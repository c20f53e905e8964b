"""Options of commands that work on whole UTC days."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from billing.dates import DAYS, may_be_named
from billing.prices.uses import midnight

DAY = timedelta(days=1)
# A year and the day that a leap year adds.
MOST_DAYS = 366


def add_days(parser: CommandParser, usual: int) -> None:
    parser.add_argument(
        "--since",
        type=_day,
        metavar="YYYY-MM-DD",
        help=f"the first day, UTC (default: {usual} days, today with them)",
    )
    parser.add_argument(
        "--until", type=_day, metavar="YYYY-MM-DD", help="the last day, UTC (default: today)"
    )
    parser.set_defaults(usual=usual)


def read_days(options: dict[str, Any]) -> tuple[datetime, datetime]:
    """From the beginning of the first day to the end of the last."""
    last = options["until"] or timezone.now().astimezone(UTC).date()
    first = options["since"] or last - (options["usual"] - 1) * DAY
    if not timedelta(0) <= last - first < MOST_DAYS * DAY:
        raise CommandError(f"--since to --until must be 1 to {MOST_DAYS} days, in that order")
    return midnight(first), midnight(last) + DAY


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text[:20]!r} is no day such as 2026-11-30") from None
    if not may_be_named(day):
        raise ArgumentTypeError(f"{day} is not {DAYS}")
    return day
