"""Alerts: what rules see, when somebody is told, and who may mute or change them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.core import mail
from django.utils import timezone

from billing.upkeep.findings import Difference
from billing.upkeep.findings import note as note_findings
from gpu_engine.proto.engine_pb2 import EngineStatus, WaitStatus
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.alerts import measures, selectors, services, webhooks
from ttsapp.alerts.evaluation import evaluate
from ttsapp.alerts.measures import Measured
from ttsapp.alerts.models import Alert, AlertChange, Delivery, SeenNetwork, State
from ttsapp.alerts.rules import BY_CODE, RULES
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.keys.models import ApiKey
from ttsapp.tenants.models import Tenant

NOW = timezone.now().replace(microsecond=0)
BUDGET, FIRST_AUDIO = BY_CODE["budget"], BY_CODE["first_audio"]


def told(alert: Alert) -> list[tuple[str, str, bool]]:
    rows = AlertChange.objects.filter(alert=alert).order_by("id")
    return [(row.before, row.after, row.was_told) for row in rows]


def listen(tenant: Tenant | None = None) -> None:
    webhooks.create(SYSTEM, tenant, "https://hooks.example.com/")


def note(value: float | None, minutes: float = 0, tenant: Tenant | None = None) -> Alert:
    """What the rule of the budget says so many minutes later."""
    rule = BUDGET if tenant else FIRST_AUDIO
    measured = Measured(value, f"{value}", tenant.pk if tenant else None)
    services.note_all(rule, [measured], NOW + timedelta(minutes=minutes))
    return Alert.objects.get(rule=rule.code)


@pytest.mark.parametrize(
    ("value", "state"),
    [(None, "no_data"), (499, "ok"), (500, "warning"), (1499, "warning"), (1500, "alert")],
)
def test_a_rule_has_two_thresholds(value: float | None, state: str) -> None:
    assert FIRST_AUDIO.state(value) == state


def test_a_falling_rule_is_the_other_way_round() -> None:
    states = [BY_CODE["consent"].state(days) for days in (31, 30, 7)]
    assert states == [State.OK, State.WARNING, State.ALERT]


def test_every_change_is_told_once(db: None) -> None:
    listen()
    for minute, value in enumerate((100, 600, 700, 2000, 100, None, 100)):
        alert = note(value, minute)
    assert told(alert) == [
        ("ok", "warning", True),
        ("warning", "alert", True),
        ("alert", "ok", True),
        ("ok", "no_data", False),
        ("no_data", "ok", False),
    ]


def test_trouble_that_lasts_is_told_of_once_a_day(db: None) -> None:
    listen()
    for minutes in (0, 60, 23 * 60, 24 * 60, 25 * 60):
        alert = note(600, minutes)
    assert told(alert) == [("ok", "warning", True), ("warning", "warning", True)]


def test_a_budget_is_told_of_at_each_step(alice: Party) -> None:
    listen(alice.tenant)
    for minute, share in enumerate((49, 50, 79, 80, 99, 100)):
        alert = note(share, minute, alice.tenant)
    assert told(alert) == [
        ("ok", "warning", True),
        ("warning", "warning", True),
        ("warning", "alert", True),
    ]


def test_what_is_muted_is_kept_and_not_told(alice: Party) -> None:
    listen(alice.tenant)
    alert = note(10, 0, alice.tenant)
    services.mute(SYSTEM, alert, 1, "known")
    note(60, 1, alice.tenant)
    assert told(alert) == [("ok", "warning", False)]
    services.mute(SYSTEM, alert, 0, "")
    note(61, 2, alice.tenant)
    assert told(alert)[1:] == [("warning", "warning", True)]


def test_mail_and_webhooks_are_told(
    alice: Party, bob: Party, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks
) -> None:
    monkeypatch.setattr(settings, "MAIL_FROM", "parlance@example.com")
    services.set_addresses(SYSTEM, alice.tenant, ["ops@example.com"])
    for party in (alice, bob):
        listen(party.tenant)
    with django_capture_on_commit_callbacks(execute=True):
        note(100, 0, alice.tenant)

    (letter,) = mail.outbox
    assert (letter.to, letter.subject) == (
        ["ops@example.com"],
        "ALERT: A budget is used up (Alice)",
    )
    (delivery,) = Delivery.objects.all()
    assert delivery.webhook.tenant == alice.tenant
    assert '"rule":"budget"' in delivery.body


def test_where_nobody_listens_nobody_was_told(alice: Party, bob: Party) -> None:
    listen()
    listen(bob.tenant)
    services.set_addresses(SYSTEM, alice.tenant, ["ops@example.com"])
    assert told(note(100, 0, alice.tenant)) == [("ok", "alert", False)]


def test_all_rules_can_be_asked(alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENGINES", ("unix:/nowhere/engine.sock",))
    evaluate(timezone.now())
    states = {alert.rule: alert.state for alert in Alert.objects.filter(tenant=None)}
    assert set(states) == {rule.code for rule in RULES if not rule.of_tenants}
    assert (states["engine"], states["queue"]) == ("alert", "no_data")
    assert (states["first_audio"], states["ledger"]) == ("no_data", "ok")


def test_a_tenant_reads_that_every_rule_was_asked(sign_in: SignIn, alice: Party) -> None:
    client = sign_in("alice")
    before = client.get("/console/alice/alerts").content.decode()
    evaluate(NOW)
    after = client.get("/console/alice/alerts").content.decode()
    assert (before.count("not asked yet"), after.count("not asked yet")) == (6, 0)
    assert after.count('<span class="pill ok">ok</span>') == 6
    assert "no budget is set" in after
    assert f"{NOW:%Y-%m-%d %H:%M} UTC" in after


def test_one_slow_answer_of_a_few_is_no_trouble(alice: Party) -> None:
    for wait in (609, *[140] * 18):
        use(alice.tenant, alice.key, timezone.now(), first_audio_ms=wait)
    (found,) = measures.first_audio(timezone.now())
    assert found.value is None


def test_the_first_audio_of_all_tenants(alice: Party, bob: Party) -> None:
    for party, wait in ((alice, 100), (bob, 900)):
        for _ in range(10):
            use(party.tenant, party.key, timezone.now(), first_audio_ms=wait)
    (found,) = measures.first_audio(timezone.now())
    assert found.value == 900


def test_the_share_of_gaps(alice: Party) -> None:
    (few,) = measures.underruns(timezone.now())
    assert few.value is None


def engine(name: str, longest: int, **waits: tuple[int, float]) -> EngineStatus:
    """Whose streams waited that long: rows and milliseconds by what they waited for."""
    told = {before: WaitStatus(rows=rows, p95_ms=p95) for before, (rows, p95) in waits.items()}
    return EngineStatus(
        engine_id=name, streams=9, waiting_first_audio=2, longest_wait_ms=longest, waits=told
    )


@pytest.mark.parametrize(
    ("told", "value", "state"),
    [
        ([engine("one", 0)], 0.0, "ok"),
        ([engine("one", 0, place=(20, 249.0), codec=(99, 5000.0))], 249.0, "ok"),
        ([engine("one", 0, place=(20, 3.0), prefill=(20, 250.0))], 250.0, "warning"),
        # One slow stream of a few is no trouble, as long as none waits now.
        ([engine("one", 0, place=(19, 5000.0))], 0.0, "ok"),
        ([engine("one", 1000)], 1000.0, "alert"),
        ([engine("one", 0), engine("two", 0, place=(40, 300.0))], 300.0, "warning"),
    ],
)
def test_the_queue_is_a_wait(
    monkeypatch: pytest.MonkeyPatch, told: list[EngineStatus], value: float, state: str
) -> None:
    async def statuses() -> list[EngineStatus]:
        return told

    monkeypatch.setattr(measures, "_statuses", statuses)
    (found,) = measures.queue(NOW)
    assert (found.value, BY_CODE["queue"].state(found.value)) == (value, state)


def test_the_queue_names_the_engine_where_it_is_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    async def statuses() -> list[EngineStatus | ApiError]:
        away = ApiError(503, "engine_unavailable", "Away.")
        return [engine("one", 0), away, engine("two", 1250)]

    monkeypatch.setattr(measures, "_statuses", statuses)
    (found,) = measures.queue(NOW)
    assert found.text == "up to 1,250 ms at two; 4 without audio yet, 18 open"


def test_refusals_have_a_share(alice: Party) -> None:
    now = timezone.now()
    for _ in range(19):
        use(alice.tenant, alice.key, now)
    assert next(measures.refusals(now)).value is None
    use(alice.tenant, alice.key, now, "error")
    assert next(measures.refusals(now)).value == 5.0


def test_what_the_ledgers_checks_found(db: None) -> None:
    note_findings(["sums"], [Difference("sums", "2026-11", "one too many")])
    (found,) = measures.findings(NOW)
    assert (found.value, found.text) == (1, "1 unresolved: 2026-11, one too many")


def test_budgets_are_their_tenants_own(alice: Party, bob: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(hard_monthly_characters=1000)
    for party, characters in ((alice, 800), (bob, 5000)):
        use(party.tenant, party.key, timezone.now(), characters=characters)
    (found,) = measures.budgets(timezone.now())
    assert (found.tenant_id, found.value) == (alice.tenant.pk, 80.0)


def test_a_keys_budget_is_its_tenants_alert(alice: Party, bob: Party) -> None:
    ApiKey.objects.filter(pk=alice.key.pk).update(hard_monthly_characters=300)
    for party in (alice, bob):
        use(party.tenant, party.key, timezone.now(), characters=169)
    (found,) = measures.budgets(timezone.now())
    text = "key alice's key: 169 of 300 characters this month: 56 %"
    assert (found.tenant_id, found.text) == (alice.tenant.pk, text)
    assert BUDGET.state(found.value) == State.WARNING


def test_of_several_budgets_the_furthest_counts(alice: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(soft_monthly_characters=200)
    ApiKey.objects.filter(pk=alice.key.pk).update(hard_monthly_characters=180)
    use(alice.tenant, alice.key, timezone.now(), characters=180)
    (found,) = measures.budgets(timezone.now())
    assert (found.value, found.text) == (
        100.0,
        "key alice's key: 180 of 180 characters this month: 100 %; "
        "180 of 200 characters this month: 90 %",
    )


def test_a_revoked_keys_budget_alarms_nobody(alice: Party) -> None:
    ApiKey.objects.filter(pk=alice.key.pk).update(hard_monthly_characters=1, revoked_at=NOW)
    use(alice.tenant, alice.key, timezone.now(), characters=100)
    assert list(measures.budgets(timezone.now())) == []


def test_a_budget_of_nothing_can_be_measured(alice: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(hard_monthly_characters=0)
    (found,) = measures.budgets(timezone.now())
    assert (found.value, found.text) == (0.0, "0 of 0 characters this month: 0 %")


def test_use_beyond_the_usual(alice: Party) -> None:
    hour = timezone.now().replace(minute=30, second=0) - timedelta(hours=1)
    for at, characters in ((hour, 90_000), (hour - timedelta(days=7), 20_000)):
        use(alice.tenant, alice.key, at, characters=characters)
    (found,) = measures.spend(timezone.now())
    assert found.value == 4.5


def used_from(key: ApiKey, address: str, at: datetime) -> None:
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=at, last_used_address=address)
    services.note_networks(at)


def test_a_key_in_a_new_network(alice: Party) -> None:
    used_from(alice.key, "192.0.2.7", NOW - timedelta(days=3))
    assert list(measures.new_networks(NOW - timedelta(days=3))) == []
    used_from(alice.key, "192.0.2.99", NOW)
    assert list(measures.new_networks(NOW)) == []
    used_from(alice.key, "2001:db8::1", NOW)
    (found,) = measures.new_networks(NOW)
    assert found.text == "alice's key from 2001:db8::/64"
    assert SeenNetwork.objects.count() == 2


def test_what_is_no_longer_measured_is_settled(alice: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(hard_monthly_characters=100)
    listen(alice.tenant)
    use(alice.tenant, alice.key, timezone.now(), characters=100)
    evaluate(timezone.now())
    Tenant.objects.filter(pk=alice.tenant.pk).update(hard_monthly_characters=None)
    evaluate(timezone.now())
    alert = Alert.objects.get(rule="budget")
    assert told(alert) == [("ok", "alert", True), ("alert", "ok", True)]
    assert (alert.value, alert.text) == (None, "no budget is set")


def test_what_was_in_no_trouble_is_cleared_too(alice: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(hard_monthly_characters=1000)
    use(alice.tenant, alice.key, timezone.now(), characters=100)
    evaluate(timezone.now())
    Tenant.objects.filter(pk=alice.tenant.pk).update(hard_monthly_characters=None)
    evaluate(timezone.now())
    alert = Alert.objects.get(rule="budget")
    assert (alert.value, alert.text) == (None, "no budget is set")


def test_an_operators_thresholds_count(db: None) -> None:
    services.choose(SYSTEM, "first_audio", 50, 60, is_enabled=True)
    services.choose(SYSTEM, "disk", None, None, is_enabled=False)
    rules = {rule.code: rule for rule in selectors.rules()}
    assert (rules["first_audio"].warning, rules["first_audio"].alert) == (50, 60)
    assert "disk" not in rules


def test_the_page_shows_and_mutes(sign_in: SignIn, alice: Party) -> None:
    note(100, 0, alice.tenant)
    client = sign_in("alice")
    (first, *_) = client.get("/console/alice/alerts").context["standings"]
    client.post("/console/alice/alerts/budget/mute", {"hours": "8", "reason": "known"})
    assert (first.rule.code, first.alert.state) == ("budget", "alert")
    assert Alert.objects.get().is_muted


@pytest.mark.parametrize("addresses", ["nobody", "a@example.com, b@", "a@x, " * 30])
def test_mail_addresses_are_checked(sign_in: SignIn, alice: Party, addresses: str) -> None:
    response = sign_in("alice").post("/console/alice/alerts", {"addresses": addresses})
    assert response.status_code == 400
    assert list(selectors.addresses(str(alice.tenant.pk))) == []


def test_an_operator_sets_thresholds(sign_in: SignIn) -> None:
    client = sign_in("operator")
    fields = {"warning": "70", "alert": "", "is_enabled": "on"}
    client.post("/platform/alerts/disk", fields)
    found = selectors.rule("disk")
    assert found is not None
    assert (found[0].warning, found[0].alert, found[1]) == (70, 95, True)


def test_thresholds_are_told_in_words() -> None:
    rule = BY_CODE["webhook"]
    assert (rule.warns_from, rule.alerts_from) == ("1 delivery", "10 deliveries")
    assert rule.between(2.5, 1500).alerts_from == "1,500 deliveries"
    assert BY_CODE["network"].alerts_from == "none"
