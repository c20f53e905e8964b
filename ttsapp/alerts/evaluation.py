"""Asking every rule, and noting what it says."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import structlog
from django.db import DatabaseError

from ttsapp.alerts import selectors, services, webhooks
from ttsapp.alerts.rules import Rule

log = structlog.get_logger()


def evaluate(now: datetime) -> int:
    """How many states changed. A rule that cannot be asked says so and keeps no other from it."""
    services.note_networks(now)
    webhooks.remove_old(now)
    changed = 0
    for rule in selectors.rules():
        try:
            changed += _evaluate(rule, now)
        except (DatabaseError, OSError) as error:
            log.error("a rule could not be asked", rule=rule.code, error=str(error))
    return changed


def _evaluate(rule: Rule, now: datetime) -> int:
    measured = list(rule.measure(now))
    changed = services.note_all(rule, measured, now)
    changed += _settle_others(rule, {each.tenant_id for each in measured}, now)
    services.note_asked(rule, now)
    return changed


def _settle_others(rule: Rule, measured: Iterable[int | None], now: datetime) -> int:
    """Of tenants that a rule has nothing to say of any more."""
    if not rule.of_tenants:
        return 0
    settled = sum(services.settle(alert, now) for alert in selectors.trouble(rule, measured))
    services.clear(rule, now)
    return settled
