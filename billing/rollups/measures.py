"""What is added up of the events, and what it is broken down by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, Count, F, Q, Sum
from django.db.models.functions import Cast, Round

from billing.rating import Outcome
from billing.rollups.models import Grain
from billing.statements import Row

FAILURES = (Outcome.FAILED, Outcome.LOST)
# One number for each of the MEASURES.
Sums = tuple[int, ...]
DIMENSIONS = ("tenant_id", "key_id", "model", "voice", "voice_kind", "price_version")


def _microseconds(column: str) -> Any:
    """Whole ones, so that no order of adding gives another sum."""
    return Cast(Sum(Round(F(column) * 1000), default=0), BigIntegerField())


# Of events, in SQL. A rollup has a column of each name.
MEASURES: dict[str, Any] = {
    "requests": Count("id"),
    "cancelled": Count("id", filter=Q(outcome=Outcome.CANCELLED)),
    "failures": Count("id", filter=Q(outcome__in=FAILURES)),
    "characters": Sum("characters", default=0),
    "billed_characters": Sum("billed_characters", default=0),
    "top_up_characters": Sum("top_up_characters", default=0),
    "audio_ms": Sum("audio_ms", default=0),
    "frames": Sum("frames", default=0),
    "text_tokens": Sum("text_tokens", default=0),
    "talker_us": _microseconds("talker_ms"),
    "predictor_us": _microseconds("predictor_ms"),
    "codec_us": _microseconds("codec_ms"),
    "first_audio_ms": Sum("first_audio_ms", default=0),
    "first_audios": Count("first_audio_ms"),
    "underruns": Sum("underruns", default=0),
    "interrupted": Count("id", filter=Q(underruns__gt=0)),
}


def measured(event: Row) -> Sums:
    """The same of one event in hand, in the same order."""
    outcome, first_audio_ms, underruns = (
        event["outcome"],
        event["first_audio_ms"],
        event["underruns"],
    )
    return (
        1,
        int(outcome == Outcome.CANCELLED),
        int(outcome in FAILURES),
        event["characters"],
        event["billed_characters"],
        event["top_up_characters"],
        event["audio_ms"],
        event["frames"],
        event["text_tokens"],
        round(event["talker_ms"] * 1000),
        round(event["predictor_ms"] * 1000),
        round(event["codec_ms"] * 1000),
        first_audio_ms or 0,
        int(first_audio_ms is not None),
        underruns,
        int(underruns > 0),
    )


def added(rows: Iterable[Sums]) -> Sums:
    return tuple(map(sum, zip(*rows, strict=True)))


@dataclass(frozen=True, slots=True)
class Place:
    """Which row of the rollups an event is added to."""

    grain: Grain
    start: datetime
    tenant_id: int
    key_id: int | None
    model: str
    voice: str
    voice_kind: str
    price_version: int | None

    @property
    def id(self) -> UUID:
        """Computed, so that one column is the whole key: no database takes NULLs for equal."""
        return _id(self)

    @property
    def day(self) -> Place:
        return replace(self, grain=Grain.DAY, start=self.start.replace(hour=0))


@lru_cache(maxsize=10_000)
def _id(place: Place) -> UUID:
    what = (place.tenant_id, place.key_id, place.model, place.voice, place.voice_kind)
    written = (place.grain.value, int(place.start.timestamp()), *what, place.price_version)
    return UUID(bytes=blake2b(repr(written).encode(), digest_size=16).digest())
