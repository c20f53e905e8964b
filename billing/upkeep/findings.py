"""Findings: opened by the check that finds something, resolved when it finds it no more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from billing.upkeep.models import Finding

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Difference:
    """What a check found wrong in what, in words for an operator."""

    check: str
    subject: str
    detail: str


@transaction.atomic
def note(checks: Iterable[str], differences: Iterable[Difference]) -> int:
    """Says what these checks, and no others, have just found. Returns how many are new."""
    now = timezone.now()
    open_ones = {(each.check_name, each.subject): each for each in _locked(checks)}
    new = 0
    for difference in differences:
        known = open_ones.pop((difference.check, difference.subject), None)
        if known is None:
            new += 1
            _open(difference)
        else:
            Finding.objects.filter(pk=known.pk).update(seen_at=now, detail=difference.detail[:500])
    Finding.objects.filter(pk__in=[each.pk for each in open_ones.values()]).update(resolved_at=now)
    return new


def unresolved() -> QuerySet[Finding]:
    """Newest first."""
    return Finding.objects.filter(resolved_at=None)


def _open(difference: Difference) -> None:
    now = timezone.now()
    Finding.objects.create(
        check_name=difference.check,
        subject=difference.subject[:200],
        detail=difference.detail[:500],
        found_at=now,
        seen_at=now,
    )
    log.error("the ledger does not add up", check=difference.check, subject=difference.subject)


def _locked(checks: Iterable[str]) -> QuerySet[Finding]:
    return unresolved().filter(check_name__in=list(checks)).select_for_update().order_by("pk")
