"""Reading alerts, rules as they are set, and webhooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet, Window
from django.db.models.functions import RowNumber

from ttsapp.alerts.models import (
    TROUBLE,
    Alert,
    AlertChange,
    Asking,
    Delivery,
    Recipients,
    RuleChoice,
    State,
    Webhook,
)
from ttsapp.alerts.rules import BY_CODE, RULES, Rule


@dataclass(frozen=True, slots=True)
class Standing:
    """A rule and what it last said of one scope: None before it was asked, and of a tenant that
    it has never had anything to say of."""

    rule: Rule
    alert: Alert | None
    is_enabled: bool
    asked_at: datetime | None


def rules() -> list[Rule]:
    """Those that are in use, with an operator's thresholds."""
    chosen = {choice.rule: choice for choice in RuleChoice.objects.all()}
    return [
        _chosen(rule, chosen.get(rule.code))
        for rule in RULES
        if rule.code not in chosen or chosen[rule.code].is_enabled
    ]


def rule(code: str) -> tuple[Rule, bool] | None:
    """As it is set, and whether it is in use."""
    if code not in BY_CODE:
        return None
    choice = RuleChoice.objects.filter(rule=code).first()
    return _chosen(BY_CODE[code], choice), choice is None or choice.is_enabled


def standings(tenant_id: int | None) -> list[Standing]:
    """Every rule for this scope, worst first."""
    chosen = {choice.rule: choice for choice in RuleChoice.objects.all()}
    alerts = {alert.rule: alert for alert in Alert.objects.filter(Q(tenant=tenant_id))}
    asked = dict(Asking.objects.values_list("rule", "at"))
    found = [
        Standing(
            _chosen(each, chosen.get(each.code)),
            alerts.get(each.code),
            each.code not in chosen or chosen[each.code].is_enabled,
            asked.get(each.code),
        )
        for each in RULES
        if each.of_tenants == (tenant_id is not None)
    ]
    return sorted(found, key=_urgency)


def tenants_in_trouble() -> QuerySet[Alert]:
    """What the rules say of tenants, for who runs the installation."""
    found = Alert.objects.filter(state__in=TROUBLE, tenant__isnull=False)
    return found.select_related("tenant").order_by("-since")[:200]


def trouble(rule: Rule, except_of: Iterable[int | None]) -> QuerySet[Alert]:
    found = Alert.objects.filter(rule=rule.code, state__in=TROUBLE)
    return found.exclude(tenant_id__in=[each for each in except_of if each is not None])


def changes(
    tenant_id: int | None, count: int = 50, rule: str = "", to: str = ""
) -> QuerySet[AlertChange]:
    found = AlertChange.objects.filter(Q(alert__tenant=tenant_id)).select_related("alert")
    if rule:
        found = found.filter(alert__rule=rule)
    if to:
        found = found.filter(after=to)
    return found[:count]


def addresses(scope: str) -> Sequence[str]:
    found = Recipients.objects.filter(scope=scope).first()
    return found.addresses if found else ()


def webhooks(tenant_id: int | None) -> QuerySet[Webhook]:
    return Webhook.objects.filter(Q(tenant=tenant_id))


def deliveries(webhook: Webhook, count: int = 50) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook)[:count]


def due(now: datetime, count: int = 100, of_each: int = 5) -> QuerySet[Delivery]:
    """Oldest first, so many of each tenant at once; webhooks that are switched off wait."""
    found = Delivery.objects.filter(next_at__lte=now, webhook__is_active=True)
    place = Window(RowNumber(), partition_by="webhook__tenant_id", order_by="next_at")
    found = found.annotate(place=place).filter(place__lte=of_each)
    return found.select_related("webhook").order_by("next_at")[:count]


def _chosen(rule: Rule, choice: RuleChoice | None) -> Rule:
    return rule if choice is None else rule.between(choice.warning, choice.alert)


def _urgency(standing: Standing) -> int:
    order = (State.ALERT, State.WARNING, State.NO_DATA, State.OK)
    return order.index(State(standing.alert.state)) if standing.alert else len(order)
