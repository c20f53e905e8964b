"""Exactly once, whatever crashes where: one event for each request, and no reservation left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from threading import Barrier, Thread
from uuid import UUID

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone

from billing import services as billing
from billing.models import Reservation, UsageEvent
from billing.rating import Outcome
from billing.services import Metered, Usage
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine
from ttsapp import ids
from ttsapp.speech import services
from ttsapp.speech.models import RequestLog

COMPLETED = Usage(Outcome.COMPLETED, characters=10, billed_characters=10, audio_ms=800)
NOW = timedelta(0)


class CrashError(Exception):
    """Stands for the process dying at that line."""


@pytest.fixture
def request_of(alice: Party) -> Metered:
    return Metered(ids.uuid7(), alice.tenant.pk, alice.key.pk, "model", "Anna")


def ledger() -> list[tuple[str, int]]:
    return list(UsageEvent.objects.values_list("outcome", "billed_characters"))


def test_it_works(request_of: Metered) -> None:
    billing.reserve(request_of)
    assert Reservation.objects.count() == 1
    assert billing.settle(request_of, COMPLETED) is True
    assert ledger() == [("completed", 10)]
    assert not Reservation.objects.exists()


def test_a_crash_after_the_reservation(request_of: Metered) -> None:
    billing.reserve(request_of)
    # The process dies here.
    assert services.close_orphans(NOW) == 1
    assert ledger() == [("lost", 0)]


def test_a_crash_inside_the_settlement(
    request_of: Metered, monkeypatch: pytest.MonkeyPatch
) -> None:
    billing.reserve(request_of)

    def die(*_: object) -> None:
        raise CrashError

    with monkeypatch.context() as patch, pytest.raises(CrashError):
        patch.setattr("django.db.models.query.QuerySet.delete", die)
        billing.settle(request_of, COMPLETED)

    assert ledger() == []
    assert Reservation.objects.count() == 1
    assert services.close_orphans(NOW) == 1
    assert ledger() == [("lost", 0)]


def test_a_crash_after_the_settlement_was_written(request_of: Metered) -> None:
    billing.reserve(request_of)
    billing.settle(request_of, COMPLETED)
    # The process dies before it learns that the commit went through, and tries again.
    assert billing.settle(request_of, COMPLETED) is False
    assert services.close_orphans(NOW) == 0
    assert ledger() == [("completed", 10)]


def test_a_settlement_that_comes_after_the_reconciler(request_of: Metered) -> None:
    billing.reserve(request_of)
    services.close_orphans(NOW)
    assert billing.settle(request_of, COMPLETED) is False
    assert ledger() == [("lost", 0)]


def test_a_reservation_that_comes_after_the_settlement(request_of: Metered) -> None:
    billing.settle(request_of, COMPLETED)
    billing.reserve(request_of)
    assert services.close_orphans(NOW) == 0
    assert ledger() == [("completed", 10)]
    assert not Reservation.objects.exists()


def test_a_reservation_that_comes_twice(request_of: Metered) -> None:
    billing.reserve(request_of)
    billing.reserve(request_of)
    assert Reservation.objects.count() == 1


def test_a_crash_inside_the_reconciler(alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        billing.reserve(Metered(ids.uuid7(), alice.tenant.pk, None, "model", "Anna"))
    real, calls = billing.settle, []

    def die_at_the_second(request: Metered, usage: Usage) -> bool:
        calls.append(request)
        if len(calls) == 2:
            raise CrashError
        return real(request, usage)

    with monkeypatch.context() as patch, pytest.raises(CrashError):
        patch.setattr(billing, "settle", die_at_the_second)
        services.close_orphans(NOW)

    assert services.close_orphans(NOW) == 2
    assert ledger() == [("lost", 0)] * 3


def test_a_live_request_is_left_alone(request_of: Metered) -> None:
    billing.reserve(request_of)
    assert services.close_orphans(timedelta(minutes=11)) == 0
    assert Reservation.objects.count() == 1


@pytest.mark.parametrize("rounds", range(3))
def test_many_settle_at_once_and_one_is_first(request_of: Metered, rounds: int) -> None:
    billing.reserve(request_of)
    barrier, firsts = Barrier(4), []

    def settle() -> None:
        barrier.wait()
        firsts.append(billing.settle(request_of, COMPLETED))
        connection.close()

    threads = [Thread(target=settle) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(firsts) == [False, False, False, True]
    assert ledger() == [("completed", 10)]


def test_the_log_row_and_the_event_are_written_together(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = fail_first(monkeypatch, services, "insert_new", times=2)

    response = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)

    request_id = UUID(response.headers["x-request-id"])
    assert eventually(lambda: RequestLog.objects.filter(pk=request_id).exists())
    assert ledger() == [("completed", 12)]
    assert len(attempts) == 3


def test_a_database_that_fails_to_reserve_does_not_silence_the_voice(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_first(monkeypatch, billing, "reserve_all", times=1)

    response = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)

    assert response.status_code == 200
    assert ledger() == [("completed", 12)]


def test_first_audio_does_not_wait_for_the_reservation(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.script.hold_after = 1
    may_write = engine.release
    real = billing.reserve_all

    def wait_and_reserve(requests: list[Metered]) -> None:
        assert may_write.wait(10)
        real(requests)

    monkeypatch.setattr(billing, "reserve_all", wait_and_reserve)
    with http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as response:
        pieces = response.iter_raw()
        assert next(pieces)
        assert not Reservation.objects.exists()
        may_write.set()
        list(pieces)

    assert eventually(ledger) == [("completed", 12)]


def test_the_command_reports_what_it_closed(request_of: Metered) -> None:
    billing.reserve(request_of)
    report = StringIO()
    call_command("reconcile_usage", "--older-than", "0", stdout=report)
    assert report.getvalue() == '{"closed": 1, "open": 0}\n'


@pytest.mark.parametrize("age", ["99999999999999999999", "315360001", "-1", "1.5", "soon", "²"])
def test_an_age_that_is_none_is_refused_in_words(age: str) -> None:
    with pytest.raises(CommandError, match="is no whole number from 0 to 315360000"):
        call_command("reconcile_usage", f"--older-than={age}")


def test_what_was_lost_has_its_row_in_the_request_log(request_of: Metered) -> None:
    told = {"transport": "sse", "response_format": "opus", "seed": 2**63 - 1, "characters": 42}
    billing.reserve(replace(request_of, **told))
    services.close_orphans(NOW)

    log = RequestLog.objects.get()
    assert (log.pk, log.tenant_id, log.key_id) == (
        request_of.id,
        request_of.tenant_id,
        request_of.key_id,
    )
    assert (log.status, log.finish_reason, log.error_code) == (500, "error", "lost")
    assert (log.transport, log.model, log.voice) == ("sse", "model", "Anna")
    assert (log.response_format, log.seed, log.characters) == ("opus", 2**63 - 1, 42)
    event = UsageEvent.objects.get()
    assert (event.outcome, event.characters, event.billed_characters) == ("lost", 42, 0)
    assert (event.finish_reason, event.first_audio_ms) == ("error", None)


def test_a_reservation_holds_what_a_lost_request_will_tell(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 1
    body = speech(seed=7, response_format="wav")
    with http.stream("POST", "/v1/audio/speech", json=body, headers=alice.headers) as response:
        reserved = eventually(Reservation.objects.first)
        engine.release.set()
        response.read()
    assert isinstance(reserved, Reservation)
    assert (reserved.characters, reserved.response_format, reserved.seed) == (12, "wav", 7)


def test_the_version_before_can_still_reserve(request_of: Metered) -> None:
    columns = "id, model, voice, transport, created_at, tenant_id"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO billing_reservation ({columns}) VALUES (%s, %s, %s, %s, %s, %s)",
            [
                _as_stored(request_of.id),
                "model",
                "Anna",
                "http",
                timezone.now(),
                request_of.tenant_id,
            ],
        )
    assert services.close_orphans(NOW) == 1
    assert ledger() == [("lost", 0)]


def _as_stored(key: UUID) -> object:
    return key if connection.vendor == "postgresql" else key.hex


def test_a_row_that_cannot_be_written_leaves_the_orphan_open(
    request_of: Metered, monkeypatch: pytest.MonkeyPatch
) -> None:
    billing.reserve(request_of)
    with monkeypatch.context() as patch, pytest.raises(OperationalError):
        fail_first(patch, RequestLog.objects, "create", times=1)
        services.close_orphans(NOW)
    assert ledger() == []
    assert services.close_orphans(NOW) == 1
    assert RequestLog.objects.count() == 1


def test_a_stream_that_ends_after_it_was_given_up_has_one_row(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    with http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as response:
        assert engine.wait_for_stream().reached.wait(10)
        eventually(Reservation.objects.exists)
        assert services.close_orphans(NOW) == 1
        engine.release.set()
        assert response.read()

    assert ledger() == [("lost", 0)]
    assert RequestLog.objects.get().error_code == "lost"
    assert not Reservation.objects.exists()


def test_the_celery_task_closes_by_age(
    request_of: Metered, settings: pytest.FixtureRequest
) -> None:
    from billing.tasks import close_orphans

    billing.reserve(request_of)
    assert close_orphans() == 0
    settings.ORPHAN_SECONDS = 0
    assert close_orphans() == 1


def fail_first(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, times: int
) -> list[object]:
    """The database is away for the first calls, as a driver would say it."""
    real: Callable[..., object] = getattr(owner, name)
    attempts: list[object] = []

    def flaky(*args: object, **kwargs: object) -> object:
        attempts.append(args)
        if len(attempts) <= times:
            raise OperationalError("the database is away")
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, flaky)
    return attempts
