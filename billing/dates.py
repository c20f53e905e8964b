"""The days that may be named: in forms, in commands and in the API, by the same rule."""

from __future__ import annotations

from datetime import date

# Nothing was spoken before, and what is beyond is a slip of somebody's finger. There is room on
# both sides for days to be added and taken away, and for any time zone.
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2099, 12, 31)
DAYS = f"from {FIRST_DAY} to {LAST_DAY}"
MONTHS = f"from {FIRST_DAY:%Y-%m} to {LAST_DAY:%Y-%m}"


def may_be_named(day: date) -> bool:
    return FIRST_DAY <= day <= LAST_DAY
