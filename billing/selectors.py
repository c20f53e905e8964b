"""Reading the ledger, always through a tenant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from billing.models import Reservation, UsageEvent


def events(tenant_id: int, requests: Iterable[UUID]) -> dict[UUID, UsageEvent]:
    """Of these requests; what was refused has none."""
    found = UsageEvent.objects.filter(tenant_id=tenant_id, pk__in=list(requests))
    return {each.pk: each for each in found}


def event(tenant_id: int, request_id: UUID) -> UsageEvent | None:
    return UsageEvent.objects.filter(tenant_id=tenant_id, pk=request_id).first()


@dataclass(frozen=True, slots=True)
class Settled:
    """How a request ended in the ledger: characters charged, and moments at which its listener had
    to wait."""

    charged: int = 0
    underruns: int = 0


def settled(tenant_id: int, requests: Iterable[UUID]) -> dict[UUID, Settled]:
    """Of these requests; what was refused has no entry."""
    found = UsageEvent.objects.filter(tenant_id=tenant_id, pk__in=list(requests))
    rows = found.values_list("pk", "billed_characters", "underruns")
    return {pk: Settled(*each) for pk, *each in rows}


def charges(tenant_id: int, requests: Iterable[UUID]) -> dict[UUID, int]:
    """The characters charged alone."""
    return {pk: each.charged for pk, each in settled(tenant_id, requests).items()}


def is_open(tenant_id: int, request_id: UUID) -> bool:
    """Whether the engine is (as far as the ledger knows) working on it."""
    return Reservation.objects.filter(tenant_id=tenant_id, pk=request_id).exists()


def running(key_id: int) -> int:
    """Requests with this key that the engine is working on, as far as the ledger knows."""
    return Reservation.objects.filter(key_id=key_id).count()


def open_reservations() -> int:
    return Reservation.objects.count()
