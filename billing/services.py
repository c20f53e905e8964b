"""Writing the ledger: reserve, settle once, close what a crash left open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from billing.models import Reservation, UsageEvent
from billing.prices.rates import VoiceKind
from billing.prices.selectors import book_in_force
from billing.rating import Outcome
from billing.rollups import services as rollups
from billing.statements import Row, insert_new
from ttsapp import ids

BATCH = 500


@dataclass(frozen=True, slots=True)
class Metered:
    """Which request is metered, for whom. `characters`: of its text so far."""

    id: UUID
    tenant_id: int
    key_id: int | None
    model: str
    voice: str
    transport: str = ""
    response_format: str = ""
    seed: int | None = None
    characters: int = 0
    voice_kind: VoiceKind = VoiceKind.PRESET


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request used, as its event will say."""

    outcome: Outcome
    characters: int = 0
    billed_characters: int = 0
    audio_ms: int = 0
    frames: int = 0
    text_tokens: int = 0
    talker_ms: float = 0.0
    predictor_ms: float = 0.0
    codec_ms: float = 0.0
    first_audio_ms: int | None = None
    underruns: int = 0
    finish_reason: str = ""
    engine: str = ""

    def capped(self) -> Usage:
        """With no more charged than was used."""
        return replace(self, billed_characters=min(self.billed_characters, self.characters))


def reserve(request: Metered) -> None:
    """Notes that the engine works for this request; saying it twice changes nothing."""
    reserve_all([request])


def reserve_all(requests: Iterable[Metered]) -> None:
    """One statement, which commits by itself."""
    insert_new(Reservation, [_reservation(request) for request in requests])


def settle(request: Metered, usage: Usage) -> bool:
    """Writes the request's one event and lifts its reservation. False if it was settled before."""
    return bool(settle_all([(request, usage)]))


@transaction.atomic
def settle_all(ended: Iterable[tuple[Metered, Usage]]) -> set[UUID]:
    """Writes the one event of each request, adds them to the sums and lifts the reservations.

    Returns which were not settled before: their primary keys alone decide."""
    now = timezone.now()
    # In one order everywhere: two transactions with the same requests cannot block each other.
    events = sorted((_event(*each, now) for each in ended), key=lambda event: event["id"].int)
    first = insert_new(UsageEvent, events)
    Reservation.objects.filter(pk__in=[event["id"] for event in events]).delete()
    rollups.add(event for event in events if event["id"] in first)
    return first


def close_orphans(older_than: timedelta, note: Callable[[Metered], object]) -> int:
    """Settles, free of charge, what processes that died left open. Returns how many.

    `note` hears of each inside the transaction that settles it."""
    limit = timezone.now() - older_than
    closed = 0
    while orphans := list(_orphans(limit)[:BATCH]):
        closed += sum(_lose(_metered(orphan), note) for orphan in orphans)
    return closed


@transaction.atomic
def _lose(request: Metered, note: Callable[[Metered], object]) -> bool:
    usage = Usage(Outcome.LOST, characters=request.characters, finish_reason="error")
    is_first = settle(request, usage)
    if is_first:
        note(request)
    return is_first


def _orphans(limit: datetime) -> QuerySet[Reservation]:
    return Reservation.objects.filter(created_at__lte=limit).order_by("pk")


def _whose(request: Metered) -> Row:
    """What a reservation and its event have in common."""
    return {
        "id": request.id,
        "tenant_id": request.tenant_id,
        "key_id": request.key_id,
        "model": request.model,
        "voice": request.voice,
        "voice_kind": request.voice_kind.value,
    }


def _reservation(request: Metered) -> Row:
    return {
        **_whose(request),
        "transport": request.transport,
        "response_format": request.response_format,
        "seed": request.seed,
        "characters": request.characters,
        "created_at": _started(request),
    }


def _event(request: Metered, usage: Usage, now: datetime) -> Row:
    started = _started(request)
    book = book_in_force(request.tenant_id, started.date())
    terms = book.version(started.date()).terms if book else None
    return {
        **_whose(request),
        "started_at": started,
        "settled_at": now,
        "outcome": usage.outcome.value,
        "characters": usage.characters,
        "billed_characters": usage.billed_characters,
        "audio_ms": usage.audio_ms,
        "frames": usage.frames,
        "text_tokens": usage.text_tokens,
        # Whole microseconds, as the sums have them.
        "talker_ms": round(usage.talker_ms, 3),
        "predictor_ms": round(usage.predictor_ms, 3),
        "codec_ms": round(usage.codec_ms, 3),
        "first_audio_ms": usage.first_audio_ms,
        "underruns": usage.underruns,
        "finish_reason": usage.finish_reason,
        "engine": usage.engine,
        "price_version": terms.version if terms else None,
        "price_book": book.slug if book else "",
        "top_up_characters": terms.top_up(usage.billed_characters) if terms else 0,
    }


def _metered(orphan: Reservation) -> Metered:
    return Metered(
        id=orphan.pk,
        tenant_id=orphan.tenant_id,
        key_id=orphan.key_id,
        model=orphan.model,
        voice=orphan.voice,
        voice_kind=VoiceKind(orphan.voice_kind),
        transport=orphan.transport,
        response_format=orphan.response_format,
        seed=orphan.seed,
        characters=orphan.characters,
    )


def _started(request: Metered) -> datetime:
    return ids.moment(request.id)
