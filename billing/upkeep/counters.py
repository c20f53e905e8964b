"""What the limits' counters say was spent, against the ledger."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

from django.utils import timezone

from billing.rollups.selectors import total
from billing.upkeep.findings import Difference
from billing.upkeep.tally import Source, Tally
from ttsapp.limits.spending import counted, forget

# A request that ends is counted a moment before it is settled.
LOOKS = 3
PAUSE_SECONDS = 1.0
_COLUMNS = {"t": "tenant_id", "k": "key_id"}


def counters(tally: Tally) -> Iterator[Difference]:
    """Where a counter of this month's budgets differs from the ledger at every look: a process
    that dies between counting and settling leaves it so. It is forgotten, so that the next request
    reads the ledger."""
    suspects: set[str] | None = None
    for look in range(LOOKS):
        if look:
            time.sleep(PAUSE_SECONDS)
        told = _told(suspects)
        differing = {subject: both for subject, both in told.items() if both[0] != both[1]}
        for both in () if look else told.values():
            tally.add(Source.COUNTERS, *both)
        if not differing:
            return
        suspects = set(differing)
    forget(f"{timezone.now():%Y-%m}", differing)
    for subject, (counter, ledger) in sorted(differing.items()):
        name = f"{_COLUMNS[subject[0]].removesuffix('_id')} {subject[1:]}"
        detail = f"counted {counter} characters this month, and the ledger says {ledger}"
        yield Difference("counters", name, detail)


def _told(suspects: set[str] | None) -> dict[str, tuple[int, int]]:
    """Of each subject, what the counter says and what the ledger does."""
    now = timezone.now()
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    found = {}
    for subject, counter in counted(f"{month:%Y-%m}").items():
        if suspects is None or subject in suspects:
            found[subject] = counter, _charged(subject, month, now)
    return found


def _charged(subject: str, since: datetime, until: datetime) -> int:
    scope = {_COLUMNS[subject[0]]: int(subject[1:])}
    return int(total(since, until, ("billed_characters",), **scope)["billed_characters"])
