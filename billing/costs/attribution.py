"""Whose the engines' cost was: shared out by engine time, each step's among the streams in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from billing.costs.figures import Charged, Figures, Part
from billing.prices.uses import midnight
from billing.rollups.selectors import Row, sums
from ttsapp.tenants.models import Tenant

TIMES = ("talker_us", "predictor_us", "codec_us")
CHARACTERS = ("billed_characters", "top_up_characters")
# Tenants', and voices'.
Parts = tuple[tuple[Part, ...], tuple[Part, ...]]


def characters_by_day(since: date, until: date) -> dict[date, Charged]:
    """Charged to all tenants, up to now: of the sums that tenants and voices are read from."""
    rows = sums(midnight(since), midnight(until), CHARACTERS, interval="day")
    return {row["start"].date(): Charged(*(row[name] for name in CHARACTERS)) for row in rows}


def by_tenant_and_voice(
    since: date, until: date, total: Figures, earned: Mapping[int, int]
) -> Parts:
    """Both from one look at the sums; the dearest first. `earned`: micros by tenant."""
    tenants: defaultdict[int, _Use] = defaultdict(_Use)
    voices: defaultdict[str, _Use] = defaultdict(_Use)
    by = ("tenant_id", "voice")
    for row in sums(midnight(since), midnight(until), (*TIMES, *CHARACTERS), by):
        tenants[row["tenant_id"]].add(row)
        voices[row["voice"]].add(row)
    names = dict(Tenant.objects.values_list("pk", "name"))
    revenues = {key: Fraction(earned[key]) for key in tenants if key in earned}
    return _parts(tenants, names, revenues, total), _parts(voices, {}, {}, total)


@dataclass(slots=True)
class _Use:
    time: int = 0
    characters: int = 0
    top_ups: int = 0

    def add(self, row: Row) -> None:
        self.time += sum(row[column] for column in TIMES)
        self.characters += row["billed_characters"]
        self.top_ups += row["top_up_characters"]


def _parts(
    uses: Mapping[Any, _Use],
    names: Mapping[Any, str],
    revenues: Mapping[Any, Fraction],
    total: Figures,
) -> tuple[Part, ...]:
    whole, spent = sum(use.time for use in uses.values()), total.engine_cost
    named = sorted((-use.time, names.get(key, key), key) for key, use in uses.items())
    return tuple(
        Part(
            name,
            uses[key].characters,
            uses[key].time // 1000,
            Fraction(uses[key].time, whole) if whole else Fraction(0),
            spent,
            revenues.get(key),
            uses[key].top_ups,
        )
        for _, name, key in named
    )
