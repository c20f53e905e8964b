"""What changes alerts: what rules say, and what people choose."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from ttsapp.alerts import notices
from ttsapp.alerts.measures import Measured
from ttsapp.alerts.models import (
    TROUBLE,
    Alert,
    AlertChange,
    Asking,
    Recipients,
    RuleChoice,
    SeenNetwork,
    State,
)
from ttsapp.alerts.rules import BY_CODE, TELL_AGAIN, Rule
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record, scope_of
from ttsapp.keys.models import ApiKey
from ttsapp.tenants.models import Tenant

# Last use is noted once a minute; the task that asks runs as often.
RECENT = timedelta(minutes=5)


def note_all(rule: Rule, measured: Iterable[Measured], now: datetime) -> int:
    """How many states changed. What stays as it is, nearly all of it, is written in one step."""
    known = {alert.tenant_id: alert for alert in Alert.objects.filter(rule=rule.code)}
    changed, quiet = 0, []
    for each in measured:
        alert = known.get(each.tenant_id)
        if alert is None or _differs(alert, rule, each) or _is_news(alert, rule, each, now):
            changed += note(rule, each, now)
        else:
            alert.value, alert.text, alert.checked_at = each.value, each.text[:300], now
            quiet.append(alert)
    Alert.objects.bulk_update(quiet, ["value", "text", "checked_at"], batch_size=500)
    return changed


@transaction.atomic
def note(rule: Rule, measured: Measured, now: datetime) -> bool:
    """Writes what the rule says, and tells of it when that is news. True for another state."""
    alert = _lock(rule.code, measured.tenant_id, now)
    before, after = State(alert.state), rule.state(measured.value)
    tells = _is_news(alert, rule, measured, now)
    if before != after:
        alert.since = now
    alert.state, alert.step, alert.value = after, rule.step(measured.value), measured.value
    alert.text, alert.checked_at = measured.text[:300], now
    alert.told_at = now if tells else alert.told_at
    alert.save()
    was_told = tells and notices.tell(rule, alert, before)
    if before != after or tells:
        _log_change(alert, before, now, was_told)
    return before != after


@transaction.atomic
def settle(alert: Alert, now: datetime) -> bool:
    """What was measured is no more: a budget that was lifted, a consent that has ended."""
    locked = Alert.objects.select_for_update().get(pk=alert.pk)
    before = State(locked.state)
    if not before.is_trouble:
        return False
    rule = BY_CODE[locked.rule]
    locked.state, locked.step, locked.value, locked.text = State.OK, 0, None, rule.nothing
    locked.since = locked.checked_at = now
    locked.save()
    was_told = not locked.is_muted and notices.tell(rule, locked, before)
    _log_change(locked, before, now, was_told)
    return True


def clear(rule: Rule, now: datetime) -> None:
    """The same of those that were in no trouble: last year's figure is not today's."""
    left = Alert.objects.filter(rule=rule.code, tenant__isnull=False, checked_at__lt=now)
    left.exclude(state__in=TROUBLE).update(
        state=State.OK, step=0, value=None, text=rule.nothing, checked_at=now
    )


def note_asked(rule: Rule, now: datetime) -> None:
    Asking.objects.update_or_create(rule=rule.code, defaults={"at": now})


@transaction.atomic
def mute(actor: Actor, alert: Alert, hours: int, reason: str) -> None:
    """Nobody is told until then; the state goes on being kept. Zero hours: told again at once."""
    until = timezone.now() + timedelta(hours=hours) if hours else None
    Alert.objects.filter(pk=alert.pk).update(muted_until=until)
    action = Action.ALERT_MUTED if hours else Action.ALERT_UNMUTED
    record(actor, action, alert.tenant, alert.rule, reason=reason, hours=hours)


@transaction.atomic
def choose(
    actor: Actor, code: str, warning: float | None, alert: float | None, *, is_enabled: bool
) -> None:
    """Other thresholds for a rule; None is the rule's own."""
    wanted = {"warning": warning, "alert": alert, "is_enabled": is_enabled}
    found = RuleChoice.objects.select_for_update().filter(rule=code).first()
    before = {name: getattr(found, name) if found else None for name in wanted}
    RuleChoice.objects.update_or_create(rule=code, defaults=wanted)
    changes = {name: (before[name], wanted[name]) for name in wanted}
    changes = {name: pair for name, pair in changes.items() if pair[0] != pair[1]}
    if changes:
        record(actor, Action.RULE_CHANGED, None, code, changes=changes)


@transaction.atomic
def set_addresses(actor: Actor, tenant: Tenant | None, addresses: list[str]) -> None:
    scope = scope_of(tenant.pk if tenant else None)
    found = Recipients.objects.select_for_update().filter(scope=scope).first()
    before = found.addresses if found else []
    if before == addresses:
        return
    Recipients.objects.update_or_create(scope=scope, defaults={"addresses": addresses})
    changes = {"addresses": (before, addresses)}
    record(actor, Action.RECIPIENTS_CHANGED, tenant, "alerts", changes=changes)


def note_networks(now: datetime) -> None:
    """Where keys were used from lately."""
    used = ApiKey.objects.filter(last_used_at__gte=now - RECENT).exclude(last_used_address="")
    for key in used.only("last_used_address"):
        network = network_of(key.last_used_address)
        if network:
            SeenNetwork.objects.get_or_create(key=key, network=network, defaults={"seen_at": now})


def network_of(address: str) -> str:
    """A home or an office: the /24 of an IPv4 address, the /64 of an IPv6 one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((parsed, 24 if parsed.version == 4 else 64), strict=False))


def _lock(code: str, tenant_id: int | None, now: datetime) -> Alert:
    scope = scope_of(tenant_id)
    defaults = {"tenant_id": tenant_id, "since": now, "checked_at": now}
    Alert.objects.get_or_create(rule=code, scope=scope, defaults=defaults)
    return Alert.objects.select_for_update().get(rule=code, scope=scope)


def _differs(alert: Alert, rule: Rule, measured: Measured) -> bool:
    found = rule.state(measured.value), rule.step(measured.value)
    return found != (alert.state, alert.step)


def _is_news(alert: Alert, rule: Rule, measured: Measured, now: datetime) -> bool:
    """Trouble that begins, grows, rises a step or lasts a day, and its end. What could not be
    measured for a while is neither trouble nor its end."""
    before, after = State(alert.state), rule.state(measured.value)
    if alert.is_muted:
        return False
    if not after.is_trouble:
        return after is State.OK and before.is_trouble
    if before != after or rule.step(measured.value) > alert.step:
        return True
    return alert.told_at is None or now - alert.told_at >= TELL_AGAIN


def _log_change(alert: Alert, before: State, now: datetime, was_told: bool) -> None:
    AlertChange.objects.create(
        at=now, alert=alert, before=before, after=alert.state, text=alert.text, was_told=was_told
    )
