"""Noting what engines say of themselves, and what people say that things cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.text import slugify

from billing.costs.models import (
    CapacityRun,
    EngineClass,
    EngineHeartbeat,
    EngineHour,
    FixedCost,
    HourlyPrice,
    ReferencePrice,
)
from billing.costs.uptime import Beat, Slice, between
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record


@dataclass(frozen=True, slots=True)
class Heard:
    """One engine's answer. `device`: its class, when it is heard of for the first time."""

    engine_id: str
    device: str
    beat: Beat


@transaction.atomic
def note_heartbeats(heard: Iterable[Heard]) -> None:
    """Any number of workers may say the same: time that was counted is not counted again."""
    for each in sorted(heard, key=lambda each: each.engine_id):
        _note(each)


@transaction.atomic
def rename_class(actor: Actor, engine_class: EngineClass, name: str) -> None:
    before, engine_class.name = engine_class.name, name
    engine_class.save(update_fields=["name"])
    changes = {"name": (before, name)}
    record(actor, Action.COSTS_CHANGED, None, engine_class.slug, changes=changes)


@transaction.atomic
def add_class(actor: Actor, name: str) -> EngineClass:
    """Ahead of its first engine, to plan with. The one of that name, if it is there."""
    engine_class, is_new = _class(name)
    if is_new:
        record(actor, Action.COSTS_CHANGED, None, engine_class.slug, name=name)
    return engine_class


@transaction.atomic
def move_engine(actor: Actor, engine_id: str, engine_class: EngineClass) -> None:
    """From now on the engine's hours count as that class's; hours that were counted stay."""
    row = EngineHeartbeat.objects.select_for_update().get(engine_id=engine_id)
    changes = {"class": (row.engine_class.slug, engine_class.slug)}
    row.engine_class = engine_class
    row.save(update_fields=["engine_class"])
    record(actor, Action.COSTS_CHANGED, None, engine_id, changes=changes)


@transaction.atomic
def price_hours(
    actor: Actor, engine_class: EngineClass, valid_from: date, per_hour_micros: int
) -> None:
    """A price for the same day is replaced: costs are our own books, and may be mended."""
    row, is_new = HourlyPrice.objects.get_or_create(
        engine_class=engine_class,
        valid_from=valid_from,
        defaults={"per_hour_micros": per_hour_micros},
    )
    before = None if is_new else row.per_hour_micros
    HourlyPrice.objects.filter(pk=row.pk).update(per_hour_micros=per_hour_micros)
    changes = {f"per_hour_micros from {valid_from}": (before, per_hour_micros)}
    record(actor, Action.COSTS_CHANGED, None, engine_class.slug, changes=changes)


@transaction.atomic
def note_capacity(
    actor: Actor, engine_class: EngineClass, characters_per_second: Decimal, at: datetime, note: str
) -> CapacityRun:
    run = CapacityRun.objects.create(
        engine_class=engine_class,
        characters_per_second=characters_per_second,
        measured_at=at,
        note=note,
    )
    speed = str(characters_per_second)
    record(actor, Action.COSTS_CHANGED, None, engine_class.slug, characters_per_second=speed)
    return run


@transaction.atomic
def add_fixed_cost(actor: Actor, **fields: Any) -> None:
    row = FixedCost.objects.create(**fields)
    record(actor, Action.COSTS_CHANGED, None, row.name, **_plain(fields))


@transaction.atomic
def set_reference(actor: Actor, name: str, per_million_micros: int, source: str) -> None:
    """One of the same name is replaced."""
    values = {"per_million_micros": per_million_micros, "source": source}
    ReferencePrice.objects.update_or_create(name=name, defaults=values)
    record(actor, Action.COSTS_CHANGED, None, name, per_million_micros=per_million_micros)


@transaction.atomic
def remove(actor: Actor, row: HourlyPrice | FixedCost | ReferencePrice | CapacityRun) -> None:
    record(actor, Action.COSTS_CHANGED, None, str(row), removed=type(row)._meta.verbose_name)
    row.delete()


def _note(heard: Heard) -> None:
    beat = heard.beat
    engine_class = _class(heard.device)[0]
    row, is_new = EngineHeartbeat.objects.select_for_update().get_or_create(
        engine_id=heard.engine_id, defaults={"engine_class": engine_class, **_values(beat)}
    )
    last = None if is_new else Beat(row.at, row.uptime_seconds, row.busy_seconds)
    if last is not None and last.at >= beat.at:
        return
    EngineHeartbeat.objects.filter(pk=row.pk).update(**_values(beat))
    for slice in between(last, beat):
        _add(heard.engine_id, row.engine_class_id, slice)


def _add(engine_id: str, class_id: int, slice: Slice) -> None:
    """Under the lock of the engine's heartbeat: nobody else adds to its hours."""
    row, _ = EngineHour.objects.get_or_create(
        engine_id=engine_id,
        hour=slice.hour,
        defaults={"engine_class_id": class_id, "up_seconds": 0.0, "busy_seconds": 0.0},
    )
    EngineHour.objects.filter(pk=row.pk).update(
        up_seconds=F("up_seconds") + slice.up_seconds,
        busy_seconds=F("busy_seconds") + slice.busy_seconds,
    )


def _class(name: str) -> tuple[EngineClass, bool]:
    slug = slugify(name)[:50] or "engine"
    return EngineClass.objects.get_or_create(slug=slug, defaults={"name": name[:100] or slug})


def _values(beat: Beat) -> dict[str, Any]:
    return {
        "at": beat.at,
        "uptime_seconds": beat.uptime_seconds,
        "busy_seconds": beat.busy_seconds,
    }


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in fields.items()
    }
