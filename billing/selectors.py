"""Reading the ledger, always through a tenant."""

from __future__ import annotations

from uuid import UUID

from billing.models import Reservation, UsageEvent


def event(tenant_id: int, request_id: UUID) -> UsageEvent | None:
    return UsageEvent.objects.filter(tenant_id=tenant_id, pk=request_id).first()


def is_open(tenant_id: int, request_id: UUID) -> bool:
    """Whether the engine is (as far as the ledger knows) working on it."""
    return Reservation.objects.filter(tenant_id=tenant_id, pk=request_id).exists()


def open_reservations() -> int:
    return Reservation.objects.count()
