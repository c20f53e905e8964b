"""What the worker has noted of the engines and of all tenants' speech: for pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from billing.rollups import selectors as rollups
from gpu_engine.proto.engine_pb2 import EngineStatus
from ttsapp.console.models import EngineSample, SpokenHour
from ttsapp.speech import history

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
MINUTES, HOURS = 60, 24
# What is added up of an hour: fields of SpokenHour.
MEASURES = ("requests", "failures", "billed_characters", "audio_ms", "interrupted")
KEPT = timedelta(hours=25)
# Between samples that are further apart, nobody looked.
LONGEST_STEP = timedelta(minutes=3)
# Of an hour's requests: enough to sort once a minute, behind everybody's back.
MOST_TIMED = 20_000


@dataclass(frozen=True, slots=True)
class Past:
    """One engine's last hour, a minute each, the oldest first; None where nobody looked. `streams`
    is in per cent of its capacity, `busy` of the device's time."""

    streams: tuple[float | None, ...]
    busy: tuple[float | None, ...]


UNKNOWN = Past((None,) * MINUTES, (None,) * MINUTES)


@transaction.atomic
def note(statuses: Iterable[EngineStatus], now: datetime) -> int:
    """One sample of each engine; what is too old is removed."""
    EngineSample.objects.filter(at__lt=now - KEPT).delete()
    SpokenHour.objects.filter(hour__lt=now - KEPT).delete()
    return len(EngineSample.objects.bulk_create(_sample(status, now) for status in statuses))


def note_hours(now: datetime) -> None:
    """The hour at hand, and those of the last day that are not known for good."""
    known = by_hour(now)
    for start in hours(now):
        if start not in known or not is_final(known[start]):
            sums = rollups.total(start, start + HOUR, MEASURES)
            SpokenHour.objects.update_or_create(
                hour=start, defaults={**sums, **_first_audio(start), "noted_at": now}
            )


def _first_audio(start: datetime) -> dict[str, int | None]:
    found = history.first_audio_of_all(start, start + HOUR, MOST_TIMED)
    return {name: getattr(found, name, None) for name in ("p50", "p95", "p99")}


def hours(now: datetime) -> list[datetime]:
    """The last 24, the one at hand too."""
    first = now.replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * HOUR
    return [first + number * HOUR for number in range(HOURS)]


def by_hour(now: datetime) -> Mapping[datetime, SpokenHour]:
    return {row.hour: row for row in SpokenHour.objects.filter(hour__gte=hours(now)[0])}


def is_final(row: SpokenHour) -> bool:
    """What began in it has ended, or is nobody's any more."""
    return row.noted_at >= row.hour + HOUR + timedelta(seconds=settings.ORPHAN_SECONDS)


def past(engine_ids: Sequence[str], now: datetime) -> Mapping[str, Past]:
    """By engine; of one that was never looked at, nothing is known."""
    since = now - MINUTES * MINUTE
    rows = EngineSample.objects.filter(engine_id__in=engine_ids, at__gt=since - LONGEST_STEP)
    by_engine: defaultdict[str, list[EngineSample]] = defaultdict(list)
    for row in rows.order_by("at"):
        by_engine[row.engine_id].append(row)
    return {name: _past(by_engine[name], now) for name in engine_ids}


def _sample(status: EngineStatus, now: datetime) -> EngineSample:
    return EngineSample(
        at=now,
        engine_id=status.engine_id[:100],
        streams=status.streams,
        capacity=status.capacity,
        waiting=status.waiting_first_audio,
        busy_seconds=sum(module.busy_seconds for module in status.modules.values()),
        core_restarts=status.core_restarts,
    )


def _past(samples: Sequence[EngineSample], now: datetime) -> Past:
    """A minute between two samples has what the later one says."""
    streams: list[float | None] = [None] * MINUTES
    busy: list[float | None] = [None] * MINUTES
    before: EngineSample | None = None
    for sample in samples:
        if before is not None and sample.at - before.at > LONGEST_STEP:
            before = None
        last = _minute(sample.at, now)
        first = last if before is None else min(last, _minute(before.at, now) + 1)
        for minute in range(max(0, first), last + 1):
            streams[minute] = _share(sample.streams, sample.capacity)
            busy[minute] = _busy(before, sample)
        before = sample
    return Past(tuple(streams), tuple(busy))


def _minute(at: datetime, now: datetime) -> int:
    """Its place in the hour; below 0 before it."""
    return MINUTES - 1 - max(0, (now - at) // MINUTE)


def _share(part: float, whole: float) -> float:
    return round(100 * min(1.0, part / whole), 1) if whole else 0.0


def _busy(before: EngineSample | None, sample: EngineSample) -> float | None:
    """None where the core began anew between the two: its counters did too."""
    if before is None or before.core_restarts != sample.core_restarts:
        return None
    spent = sample.busy_seconds - before.busy_seconds
    return _share(spent, (sample.at - before.at).total_seconds()) if spent >= 0 else None
