"""What keeps the ledger right over the years: reconciliation, retention, partitions."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from billing.models import Finding, Reservation, Retention, Rollup, UsageEvent
from billing.rollups.selectors import total
from billing.services import Metered, reserve
from billing.tasks import make_partitions, reconcile, remove_old_events
from billing.upkeep import counters, guard, partitions, reconciliation, retention
from billing.upkeep.partitions import Month
from billing.upkeep.tally import Tally
from tests.billing.used import use
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Tenant

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)
NAMES = ("requests",)

on_postgres = pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="SQLite has no partitions"
)


def unresolved() -> list[tuple[str, str]]:
    return list(
        Finding.objects.filter(resolved_at=None).values_list("check_name", "subject").order_by("pk")
    )


def test_a_sound_ledger_has_no_differences(alice: Tenant, bob: Tenant) -> None:
    for tenant in (alice, bob):
        use(tenant, timezone.now())
    assert reconcile() == 0
    assert unresolved() == []


def test_a_difference_is_found_told_once_and_resolved(alice: Tenant) -> None:
    use(alice, NOON)
    Rollup.objects.filter(grain="hour").update(billed_characters=99)
    subject = f"hour 2026-05-04 12:00, tenant {alice.pk}, key none, tiny, anna"

    for _ in range(2):
        [found] = reconciliation.reconcile(NOON, NOON + DAY)
        assert found.detail.startswith("billed_characters: 99, and its events say 100; ")
        assert unresolved() == [("sums", subject)]

    Rollup.objects.update(billed_characters=100)
    assert reconciliation.reconcile(NOON, NOON + DAY) == []
    assert unresolved() == []
    assert Finding.objects.count() == 1


def test_reservations_that_nobody_settles_are_found(alice: Tenant, settings: LazySettings) -> None:
    settings.ORPHAN_SECONDS = 0
    reserve(Metered(use(alice, NOON), alice.pk, None, "tiny", "anna"))
    assert Reservation.objects.count() == 1
    reconcile()
    assert unresolved() == [("reservations", "abandoned reservations")]


def test_counters_are_compared_with_the_ledger(
    alice: Tenant, bob: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(alice, timezone.now(), 10)
    told = {f"t{alice.pk}": 10, f"t{bob.pk}": 3}
    forgotten: list[str] = []
    monkeypatch.setattr(counters, "counted", lambda month: told)
    monkeypatch.setattr(counters, "forget", lambda month, subjects: forgotten.extend(subjects))
    monkeypatch.setattr(counters, "PAUSE_SECONDS", 0)

    [found] = counters.counters(Tally())

    assert forgotten == [f"t{bob.pk}"]

    assert found.subject == f"tenant {bob.pk}"
    assert found.detail == "counted 3 characters this month, and the ledger says 0"


def test_a_request_that_is_just_being_settled_is_no_difference(
    alice: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([{f"t{alice.pk}": 10}, {f"t{alice.pk}": 0}])
    monkeypatch.setattr(counters, "counted", lambda month: next(answers))
    monkeypatch.setattr(counters, "PAUSE_SECONDS", 0)
    assert list(counters.counters(Tally())) == []


def test_the_command_tells_all_of_it(alice: Tenant) -> None:
    use(alice, NOON)
    report = StringIO()
    call_command("check_ledger", since=NOON.date(), until=NOON.date(), stdout=report)
    assert json.loads(report.getvalue()) == {
        "since": "2026-05-04",
        "until": "2026-05-05",
        "requests": 1,
        "billed_characters": 100,
        "differences": [],
    }


def test_the_command_fails_where_anything_differs_until_it_is_rebuilt(alice: Tenant) -> None:
    use(alice, NOON)
    Rollup.objects.all().delete()
    day = {"since": NOON.date(), "until": NOON.date()}
    with pytest.raises(SystemExit, match="1"):
        call_command("check_ledger", **day, stdout=StringIO())

    report = StringIO()
    call_command("rebuild_rollups", **day, stdout=report)

    assert report.getvalue() == '{"rows": 2}\n'
    call_command("check_ledger", **day, stdout=StringIO())


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--since=yesterday"], "'yesterday' is no day such as 2026-11-30"),
        (["--since=2026-05-05", "--until=2026-05-04"], "in that order"),
        (["--since=9999-12-31"], "9999-12-31 is not from 2000-01-01 to 2099-12-31"),
        (["--since=2020-01-01", "--until=2026-05-04"], "1 to 366 days"),
    ],
)
def test_days_that_are_none_are_refused_in_words(db: None, arguments: list[str], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        call_command("check_ledger", *arguments)


def test_a_tenants_old_events_go_and_its_sums_stay(alice: Tenant, bob: Tenant) -> None:
    retention.keep_for(SYSTEM, alice, 62)
    for tenant in (alice, bob):
        use(tenant, NOON)
        use(tenant, timezone.now())

    assert remove_old_events() == 1

    assert UsageEvent.objects.filter(tenant=alice).count() == 1
    assert UsageEvent.objects.filter(tenant=bob).count() == 2
    until = timezone.now() + DAY
    assert total(NOON, until, NAMES, tenant_id=alice.pk) == {"requests": 2}
    # Neither a comparison nor a rebuild takes what is gone for a difference.
    assert reconciliation.reconcile(NOON, NOON + DAY) == []
    call_command("rebuild_rollups", since=NOON.date(), until=NOON.date(), stdout=StringIO())
    assert total(NOON, NOON + DAY, NAMES) == {"requests": 2}
    assert remove_old_events() == 0


def test_a_day_is_kept_from_its_midnight_on(alice: Tenant) -> None:
    retention.keep_for(SYSTEM, alice, 62)
    first = NOON.replace(hour=0)
    kept = use(alice, first)
    use(alice, first - timedelta(milliseconds=1))
    assert retention.remove_old(NOON + 62 * DAY) == 1
    assert UsageEvent.objects.get().pk == kept


@on_postgres
@pytest.mark.parametrize(
    "column", ["billed_characters = 0", "top_up_characters = 9", "tenant_id = 0", "audio_ms = 9"]
)
def test_what_a_settled_event_charges_is_edited_by_nobody(alice: Tenant, column: str) -> None:
    kept = UsageEvent.objects.get(pk=use(alice, NOON))
    with pytest.raises(IntegrityError, match=f"usage event {kept.pk} is never edited"):
        by_its_owner(f"UPDATE billing_usageevent SET {column}")
    assert UsageEvent.objects.values().get() == without_state(kept)


@on_postgres
def test_what_nothing_is_charged_by_may_be_noted_later(alice: Tenant) -> None:
    use(alice, NOON)
    by_its_owner("UPDATE billing_usageevent SET engine = 'one', billed_characters = 100")
    assert UsageEvent.objects.get().engine == "one"


@on_postgres
@pytest.mark.parametrize("table", ["billing_usageevent", partitions.REST])
def test_an_event_is_removed_by_nobody(alice: Tenant, table: str) -> None:
    kept = use(alice, timezone.now() + 400 * DAY)
    with pytest.raises(IntegrityError, match=f"usage event {kept} is kept"):
        by_its_owner(f"DELETE FROM {table}")
    assert UsageEvent.objects.count() == 1


@on_postgres
def test_retention_removes_no_event_that_is_kept(alice: Tenant, bob: Tenant) -> None:
    retention.keep_for(SYSTEM, alice, 62)
    for tenant, at in ((alice, NOON), (bob, NOON)):
        use(tenant, at)
    assert remove_old_events() == 1
    use(alice, timezone.now())
    for tenant in (alice, bob):
        with pytest.raises(IntegrityError, match="is kept"):
            by_its_owner(f"DELETE FROM billing_usageevent WHERE tenant_id = {tenant.pk}")


@on_postgres
def test_a_months_events_are_guarded_as_well_once_it_has_a_partition(alice: Tenant) -> None:
    far = timezone.now() + 400 * DAY
    use(alice, far)
    partitions.make(far, ahead=1)
    with pytest.raises(IntegrityError, match="is never edited"):
        by_its_owner(f"UPDATE {Month.of(far).table} SET billed_characters = 0")


@on_postgres
@pytest.mark.parametrize("table", ["billing_usageevent", "tenants_tenant CASCADE", partitions.REST])
def test_events_are_not_removed_all_at_once(alice: Tenant, table: str) -> None:
    use(alice, timezone.now() + 400 * DAY)
    with pytest.raises(IntegrityError, match="usage events are kept in billing_usageevent"):
        by_its_owner(f"TRUNCATE {table}")
    assert UsageEvent.objects.count() == 1


@on_postgres
def test_nor_are_those_of_a_month_old_or_new(alice: Tenant) -> None:
    far = timezone.now() + 400 * DAY
    use(alice, far)
    partitions.make(far, ahead=0)
    for table in tables_of_events():
        with pytest.raises(IntegrityError, match=f"usage events are kept in {table}"):
            by_its_owner(f"TRUNCATE {table}")
    assert UsageEvent.objects.count() == 1


@on_postgres
def test_who_says_so_first_removes_them_all(alice: Tenant) -> None:
    use(alice, NOON)
    with guard.opened():
        by_its_owner("TRUNCATE billing_usageevent")
    assert UsageEvent.objects.count() == 0


def tables_of_events() -> list[str]:
    """Those that hold them, the months to come with them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relid::regclass::text FROM pg_partition_tree('billing_usageevent') WHERE isleaf"
        )
        found = [table for (table,) in cursor.fetchall()]
    assert len(found) >= 2 + partitions.MONTHS_AHEAD
    return found


def by_its_owner(statement: str) -> None:
    """Past everything that the application asks."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # while a check is due nothing is truncated
        cursor.execute(statement)


def without_state(event: UsageEvent) -> dict[str, object]:
    return {field.attname: getattr(event, field.attname) for field in event._meta.concrete_fields}


def test_a_retention_is_audited(alice: Tenant) -> None:
    retention.keep_for(SYSTEM, alice, 90)
    retention.keep_for(SYSTEM, alice, None)
    changes = AuditEntry.objects.filter(action="retention.changed").order_by("pk")
    assert [entry.changes for entry in changes] == [{"days": [None, 90]}, {"days": [90, None]}]


@pytest.mark.parametrize("days", [0, 61, 3651])
def test_a_retention_out_of_bounds_is_refused(alice: Tenant, days: int) -> None:
    with pytest.raises(ApiError, match="62 to 3650 days"):
        retention.keep_for(SYSTEM, alice, days)
    assert not Retention.objects.exists()


def test_a_month_ends_where_the_next_begins() -> None:
    december = Month.of(datetime(2026, 12, 31, 23, 59, tzinfo=UTC))
    assert december.table == "billing_usageevent_2026_12"
    assert december.next.table == "billing_usageevent_2027_01"
    assert december.bounds[1] == december.next.bounds[0]


@on_postgres
def test_months_are_made_ahead_and_missed_where_they_are_not(alice: Tenant) -> None:
    far = timezone.now() + 400 * DAY
    month = Month.of(far)
    inside = use(alice, far)
    assert [each.table for each in partitions.missing(far)] == [month.table, month.next.table]
    assert partitions.unplaced() == 1

    assert make_partitions() == 0
    assert partitions.make(far, ahead=1) == [month.table, month.next.table]

    assert partitions.missing(far) == []
    assert partitions.unplaced() == 0
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {month.table}")
        assert cursor.fetchall() == [(inside,)]


@on_postgres
def test_events_without_a_partition_are_a_finding(alice: Tenant) -> None:
    use(alice, timezone.now() + 400 * DAY)
    reconcile()
    assert unresolved() == [("partitions", partitions.REST)]
