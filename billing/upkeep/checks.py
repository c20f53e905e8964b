"""Runs of the reconciliation: planned, run, and kept for who wants to know that they ran."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from billing.upkeep.findings import Difference, unresolved
from billing.upkeep.models import Finding, LedgerCheck
from billing.upkeep.reconciliation import reconcile
from billing.upkeep.tally import Source, Tally
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record

KEPT_DAYS, MOST_DAYS = 90, 366
# The schedule asks every hour: after that long it has missed one.
LATE = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Side:
    source: Source
    counted: int
    ledger: int

    @property
    def difference(self) -> int:
        return self.counted - self.ledger


@dataclass(frozen=True, slots=True)
class Standing:
    """At a glance: `state` is good, bad, late or none; `last` has ended."""

    state: str
    last: LedgerCheck | None
    sides: tuple[Side, ...]
    findings: QuerySet[Finding]


def plan(since: datetime, until: datetime, asked_by: str = "") -> LedgerCheck:
    now = timezone.now()
    return LedgerCheck.objects.create(
        asked_at=now, asked_by=asked_by[:200], since=since, until=until
    )


@transaction.atomic
def ask(actor: Actor, days: int) -> LedgerCheck | None:
    """For a worker to run once this is committed: who asks hands it on by its id. None: one that
    was asked for waits or runs, and will do."""
    now = timezone.now()
    _give_up_lost(now)
    try:
        with transaction.atomic():
            check = plan(now - timedelta(days=days - 1), now, actor.label)
    except IntegrityError:
        return None
    record(actor, Action.METERING_CHECKED, None, "ledger", days=days, check=str(check.pk))
    return check


def _give_up_lost(now: datetime) -> None:
    """Whose worker died, or was never handed it, must not stand in the way for ever."""
    lost = LedgerCheck.objects.filter(ended_at=None, asked_at__lt=now - LATE).exclude(asked_by="")
    lost.update(ended_at=now, problem="no worker has ended it")


def run(check: LedgerCheck) -> list[Difference]:
    """Raises what the reconciliation raises, which the check then says."""
    tally = Tally()
    _note(check, began_at=timezone.now())
    try:
        found = reconcile(check.since, check.until, tally)
    except Exception as error:
        _note(check, ended_at=timezone.now(), problem=f"{type(error).__name__}: {error}"[:300])
        raise
    _note(check, ended_at=timezone.now(), differences=len(found), sides=tally.as_json())
    old = timezone.now() - timedelta(days=KEPT_DAYS)
    LedgerCheck.objects.filter(asked_at__lt=old).delete()
    return found


def standing() -> Standing:
    last = LedgerCheck.objects.exclude(ended_at=None).first()
    sides = tuple(Side(Source(name), *both) for name, *both in last.sides) if last else ()
    return Standing(_state(last), last, sides, unresolved())


def pending() -> LedgerCheck | None:
    """The newest that was asked for and has not ended, unless a newer one has."""
    newest = LedgerCheck.objects.first()
    return newest if newest is not None and newest.ended_at is None else None


def history() -> QuerySet[LedgerCheck]:
    """Newest first."""
    return LedgerCheck.objects.all()


def _state(last: LedgerCheck | None) -> str:
    if last is None or last.ended_at is None:
        return "none"
    if last.problem or last.differences or unresolved().exists():
        return "bad"
    return "late" if timezone.now() - last.ended_at > LATE else "good"


def _note(check: LedgerCheck, **values: object) -> None:
    for name, value in values.items():
        setattr(check, name, value)
    check.save(update_fields=list(values))
