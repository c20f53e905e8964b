"""Who is told of an alert, and in what words."""

from __future__ import annotations

import smtplib
from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction

from ttsapp.alerts import webhooks
from ttsapp.alerts.models import Alert, Recipients, State
from ttsapp.alerts.rules import Rule

log = structlog.get_logger()


def tell(rule: Rule, alert: Alert, before: State) -> bool:
    """Webhooks in the transaction of the change, mail after it. False where nobody listens."""
    sent = webhooks.send(alert.tenant_id, "alert.changed", _payload(rule, alert, before))
    found = Recipients.objects.filter(scope=alert.scope).first()
    mails = bool(found and found.addresses and settings.MAIL_FROM)
    if found and mails:
        place = str(alert.tenant) if alert.tenant else "the installation"
        subject = f"{State(alert.state).label.upper()}: {rule.title} ({place})"
        body = _letter(rule, alert, place)
        transaction.on_commit(partial(_mail, subject, body, list(found.addresses)))
    return mails or sent > 0


def _payload(rule: Rule, alert: Alert, before: State) -> dict[str, Any]:
    return {
        "rule": rule.code,
        "title": rule.title,
        "tenant": alert.tenant.slug if alert.tenant else None,
        "state": alert.state,
        "before": before.value,
        "value": alert.value,
        "unit": rule.unit,
        "text": alert.text,
        "since": alert.since.isoformat(timespec="seconds"),
    }


def _letter(rule: Rule, alert: Alert, place: str) -> str:
    lines = (
        f"{rule.title}: {State(alert.state).label}, for {place}.",
        alert.text,
        rule.why,
        f"Since {alert.since:%Y-%m-%d %H:%M} UTC.",
        "The console's Alerts page says who is told, from which values on, and mutes it.",
    )
    return "\n\n".join(filter(None, lines))


def _mail(subject: str, body: str, addresses: list[str]) -> None:
    """A mail server that is away must not stop the rules: the webhooks and the page have it."""
    try:
        send_mail(subject, body, settings.MAIL_FROM, addresses)
    except (OSError, smtplib.SMTPException) as error:
        log.error("an alert could not be mailed", subject=subject, error=str(error))
