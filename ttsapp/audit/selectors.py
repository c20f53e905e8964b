"""Reading the audit log, and checking that nothing of it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from ttsapp.audit.actions import Action
from ttsapp.audit.chain import START, Break, first_break
from ttsapp.audit.models import AuditDay, AuditEntry
from ttsapp.ids import lowest


@dataclass(frozen=True, slots=True)
class Search:
    action: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: UUID | None = None


def of_tenant(tenant_id: int, search: Search) -> QuerySet[AuditEntry]:
    return _found(AuditEntry.objects.filter(tenant_id=tenant_id), search)


def everything(search: Search) -> QuerySet[AuditEntry]:
    """All tenants' rows and the installation's own."""
    return _found(AuditEntry.objects.all(), search)


def breaks(scope: str | None = None) -> Iterator[Break]:
    """Where the chains do not fit: of one scope, or of all."""
    days = AuditDay.objects.order_by("scope", "day")
    previous, last = START, None
    for chain in days if scope is None else days.filter(scope=scope):
        if chain.scope != last:
            previous, last = START, chain.scope
        entries = chain.entries.select_related("chain").order_by("sequence").iterator()
        rows = (entry.as_row() for entry in entries)
        day = chain.day.isoformat()
        found = first_break(chain.scope, day, rows, previous, chain.length, chain.head)
        if found is not None:
            yield found
        previous = chain.head


def chain_count() -> int:
    return AuditDay.objects.count()


def actions() -> list[tuple[str, str]]:
    """Every action and its sentence, for a choice."""
    return [(action.value, action.sentence) for action in Action]


def _found(entries: QuerySet[AuditEntry], search: Search) -> QuerySet[AuditEntry]:
    if search.action:
        entries = entries.filter(action=search.action)
    if search.actor:
        entries = entries.filter(actor__icontains=search.actor)
    if search.since:
        entries = entries.filter(id__gte=lowest(search.since))
    if search.until:
        entries = entries.filter(id__lt=lowest(search.until))
    if search.before:
        entries = entries.filter(id__lt=search.before)
    return entries.select_related("tenant", "chain").order_by("-id")
