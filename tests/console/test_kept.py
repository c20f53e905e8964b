"""What the worker notes of the engines, and what pages read of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.console import tasks
from ttsapp.console.live import kept
from ttsapp.console.models import EngineSample, SpokenHour

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


def status(busy: float, streams: int = 0, restarts: int = 0) -> pb.EngineStatus:
    told = pb.EngineStatus(engine_id="one", capacity=8, streams=streams, core_restarts=restarts)
    told.modules["talker"].busy_seconds = busy
    return told


def test_it_works() -> None:
    kept.note([status(10)], NOON - 3 * MINUTE)
    kept.note([status(40, streams=2)], NOON - 2 * MINUTE)
    kept.note([status(40)], NOON - MINUTE)
    found = kept.past(["one"], NOON)["one"]
    assert found.streams[-5:] == (None, 0.0, 25.0, 0.0, None)
    assert found.busy[-5:] == (None, None, 50.0, 0.0, None)
    assert (len(found.streams), set(found.streams[:-4])) == (60, {None})


def test_a_minute_that_was_left_out_has_what_the_next_one_says() -> None:
    kept.note([status(0)], NOON - 2 * MINUTE)
    kept.note([status(60, streams=8)], NOON)
    found = kept.past(["one"], NOON)["one"]
    assert (found.streams[-3:], found.busy[-3:]) == ((0.0, 100.0, 100.0), (None, 50.0, 50.0))


def test_nothing_is_known_of_minutes_in_which_nobody_looked() -> None:
    kept.note([status(0)], NOON - 10 * MINUTE)
    kept.note([status(60)], NOON)
    found = kept.past(["one"], NOON)["one"]
    assert (found.streams[-2:], found.busy[-1]) == ((None, 0.0), None)


def test_a_core_that_began_anew_has_other_counters() -> None:
    kept.note([status(500)], NOON - MINUTE)
    kept.note([status(6, restarts=1)], NOON)
    kept.note([status(36, restarts=1)], NOON + MINUTE)
    assert kept.past(["one"], NOON + MINUTE)["one"].busy[-2:] == (None, 50.0)


def test_an_engine_that_was_never_looked_at_has_no_past() -> None:
    kept.note([status(0)], NOON)
    assert kept.past(["two"], NOON) == {"two": kept.UNKNOWN}


def test_what_is_too_old_is_removed() -> None:
    kept.note([status(0)], NOON)
    kept.note([status(0)], NOON + kept.KEPT)
    assert EngineSample.objects.count() == 2
    kept.note([status(0)], NOON + kept.KEPT + SECOND)
    assert EngineSample.objects.count() == 2


def test_hours_are_kept_over_all_tenants(alice: Party, bob: Party) -> None:
    for party, milliseconds in ((alice, 100), (bob, 300), (bob, 200)):
        use(party.tenant, party.key, NOON - MINUTE, first_audio_ms=milliseconds)
    use(alice.tenant, alice.key, NOON, "error", first_audio_ms=50)
    kept.note_hours(NOON + MINUTE)
    use(alice.tenant, alice.key, NOON + MINUTE, characters=7, first_audio_ms=70)
    kept.note_hours(NOON + 30 * MINUTE)

    found = kept.by_hour(NOON + 30 * MINUTE)
    assert (len(found), max(found)) == (24, NOON)
    before, now = found[NOON - kept.HOUR], found[NOON]
    assert (before.requests, before.billed_characters) == (3, 300)
    assert (before.p50, before.p95, before.p99) == (200, 300, 300)
    assert (now.requests, now.failures, now.billed_characters) == (2, 1, 7)
    assert (now.p50, now.p95) == (50, 70)


def test_an_hour_without_audio_has_no_times(alice: Party) -> None:
    use(alice.tenant, alice.key, NOON, "refused")
    kept.note_hours(NOON + MINUTE)
    row = SpokenHour.objects.get(hour=NOON)
    assert (row.requests, row.p50, row.p95, row.p99) == (0, None, None, None)


def test_an_hour_that_is_over_for_good_is_not_added_up_again(alice: Party) -> None:
    orphans = timedelta(seconds=settings.ORPHAN_SECONDS)
    use(alice.tenant, alice.key, NOON)
    kept.note_hours(NOON + kept.HOUR + orphans - SECOND)
    assert not kept.is_final(SpokenHour.objects.get(hour=NOON))
    use(alice.tenant, alice.key, NOON)
    kept.note_hours(NOON + kept.HOUR + orphans)
    row = SpokenHour.objects.get(hour=NOON)
    assert (kept.is_final(row), row.requests) == (True, 2)
    kept.note_hours(NOON + 3 * kept.HOUR)
    assert SpokenHour.objects.get(hour=NOON).noted_at == row.noted_at


def test_an_engine_that_is_away_is_not_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENGINES", ("unix:/nowhere/engine.sock",))
    assert tasks.note_engines() == 0
