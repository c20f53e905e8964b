"""Reading the ledger, always through a tenant."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from billing.models import Reservation, UsageEvent


def event(tenant_id: int, request_id: UUID) -> UsageEvent | None:
    return UsageEvent.objects.filter(tenant_id=tenant_id, pk=request_id).first()


def charges(tenant_id: int, requests: Iterable[UUID]) -> dict[UUID, int]:
    """Characters charged for these requests; what was refused has no entry."""
    found = UsageEvent.objects.filter(tenant_id=tenant_id, pk__in=list(requests))
    return dict(found.values_list("pk", "billed_characters"))


def is_open(tenant_id: int, request_id: UUID) -> bool:
    """Whether the engine is (as far as the ledger knows) working on it."""
    return Reservation.objects.filter(tenant_id=tenant_id, pk=request_id).exists()


def open_reservations() -> int:
    return Reservation.objects.count()
