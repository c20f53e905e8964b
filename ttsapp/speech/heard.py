"""The requests of a tenant that were heard, for APIs that have a history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Avg, QuerySet
from django.db.models.functions import Trunc

from ttsapp import ids
from ttsapp.speech import kept
from ttsapp.speech.models import RequestLog
from ttsapp.voices.models import Voice


@dataclass(frozen=True, slots=True)
class Wanted:
    """Empty fields ask for nothing. `after`: where an earlier page ended."""

    voice: str = ""
    model: str = ""
    since: datetime | None = None
    until: datetime | None = None
    after: UUID | None = None
    is_oldest_first: bool = False


def find(tenant_id: int, wanted: Wanted) -> QuerySet[RequestLog]:
    found = RequestLog.objects.filter(tenant_id=tenant_id, audio_ms__gt=0)
    if wanted.voice:
        found = found.filter(voice=wanted.voice)
    if wanted.model:
        found = found.filter(model=wanted.model)
    if wanted.since:
        found = found.filter(pk__gte=ids.lowest(wanted.since))
    if wanted.until:
        found = found.filter(pk__lt=ids.lowest(wanted.until))
    if wanted.after and wanted.is_oldest_first:
        found = found.filter(pk__gt=wanted.after)
    elif wanted.after:
        found = found.filter(pk__lt=wanted.after)
    return found.order_by("pk" if wanted.is_oldest_first else "-pk")


def one(tenant_id: int, request_id: UUID) -> RequestLog | None:
    return RequestLog.objects.filter(tenant_id=tenant_id, pk=request_id, audio_ms__gt=0).first()


def recording(log: RequestLog) -> bytes | None:
    """None for what was not, or is no longer, kept, and of a voice that is gone, or whose speaker's
    consent has ended."""
    voice = Voice.objects.filter(public_id=log.voice).select_related("consent").first()
    if voice is not None and (voice.deleted_at is not None or voice.state != "active"):
        return None
    return kept.read(kept.RECORDINGS, log.recording)


def average_waits(
    tenant_id: int, since: datetime, until: datetime, interval: str
) -> dict[datetime, float]:
    """Milliseconds to first audio, by the beginnings (UTC) of the intervals that have any;
    `cumulative`: over all of it, at `since`."""
    rows = RequestLog.objects.filter(
        tenant_id=tenant_id,
        pk__gte=ids.lowest(since),
        pk__lt=ids.lowest(until),
        first_audio_ms__isnull=False,
    ).order_by()
    if interval == "cumulative":
        whole = rows.aggregate(wait=Avg("first_audio_ms"))["wait"]
        return {} if whole is None else {since: whole}
    begun: Any = rows.annotate(start=Trunc("at", interval, tzinfo=UTC)).values("start")
    return {row["start"]: row["wait"] for row in begun.annotate(wait=Avg("first_audio_ms"))}
