"""Webhooks: made, changed, tried, and what is sent to them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from ttsapp import ciphers, ids, locks
from ttsapp.alerts.models import Delivery, Webhook
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import invalid
from ttsapp.tenants.models import Tenant

PURPOSE = "webhooks"
PREFIX = "whsec_"
MOST = 10
KEPT = timedelta(days=30)
# After each failure; then it is given up, and can be sent again by hand.
PAUSES = tuple(timedelta(minutes=m) for m in (1, 5, 30, 120, 360, 1440))


@transaction.atomic
def create(actor: Actor, tenant: Tenant | None, url: str) -> Webhook:
    """Raises ApiError 400 beyond MOST of them."""
    locks.hold(f"webhooks of {tenant.pk if tenant else None}")
    if Webhook.objects.filter(tenant=tenant).count() >= MOST:
        raise invalid(f"At most {MOST} webhooks: remove one first.", "url", "too_many_webhooks")
    secret = ciphers.encrypt(PURPOSE, _new_secret())
    made = Webhook.objects.create(tenant=tenant, url=url, secret=secret)
    record(actor, Action.WEBHOOK_CREATED, tenant, url)
    return made


@transaction.atomic
def rotate(actor: Actor, webhook: Webhook) -> None:
    """Another secret; deliveries are signed with it from now on."""
    secret = ciphers.encrypt(PURPOSE, _new_secret())
    Webhook.objects.filter(pk=webhook.pk).update(secret=secret)
    record(actor, Action.WEBHOOK_ROTATED, webhook.tenant, webhook.url)


@transaction.atomic
def switch(actor: Actor, webhook: Webhook, *, is_active: bool) -> bool:
    """What is off gets nothing, and what waits for it goes on waiting. False: it was so."""
    found = Webhook.objects.filter(pk=webhook.pk).exclude(is_active=is_active)
    if not found.update(is_active=is_active):
        return False
    changes = {"on": (not is_active, is_active)}
    record(actor, Action.WEBHOOK_CHANGED, webhook.tenant, webhook.url, changes=changes)
    return True


@transaction.atomic
def remove(actor: Actor, webhook: Webhook) -> None:
    """With the log of what was sent to it."""
    record(actor, Action.WEBHOOK_REMOVED, webhook.tenant, webhook.url)
    webhook.delete()


def send(tenant_id: int | None, event: str, data: Mapping[str, Any]) -> int:
    """One delivery for each webhook of the scope that is on; call it in the transaction of what it
    tells of."""
    rows = [
        _delivery(webhook, event, data)
        for webhook in Webhook.objects.filter(Q(tenant=tenant_id), is_active=True)
    ]
    return len(Delivery.objects.bulk_create(rows))


def test(webhook: Webhook) -> Delivery:
    """An event that says nothing, to see that one arrives."""
    row = _delivery(webhook, "webhook.test", {"text": "It works."})
    row.save(force_insert=True)
    return row


def resend(delivery: Delivery) -> None:
    """At once, whatever became of it; under the same id, so that a receiver may know it."""
    Delivery.objects.filter(pk=delivery.pk).update(next_at=timezone.now(), attempts=0)


def arrived(delivery: Delivery, status: int, now: datetime) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(
        delivered_at=now, next_at=None, status=status, problem="", attempts=delivery.attempts + 1
    )


def failed(delivery: Delivery, status: int | None, problem: str, now: datetime) -> None:
    """It is tried again after a growing pause, and given up after the last."""
    later = now + PAUSES[delivery.attempts] if delivery.attempts < len(PAUSES) else None
    Delivery.objects.filter(pk=delivery.pk).update(
        next_at=later, status=status, problem=_shown(problem), attempts=delivery.attempts + 1
    )


def remove_old(now: datetime) -> None:
    """The log of deliveries that are over. Ids sort by time."""
    over = Delivery.objects.filter(next_at=None, pk__lt=ids.lowest(now - KEPT))
    over.delete()


def headers(delivery: Delivery, now: datetime) -> dict[str, str]:
    """As the Standard Webhooks specification signs: id, time and body, by HMAC-SHA256."""
    stamp = str(int(now.timestamp()))
    secret = secret_of(delivery.webhook)
    return {
        "content-type": "application/json",
        "user-agent": "Parlance-Webhooks",
        "webhook-id": str(delivery.pk),
        "webhook-timestamp": stamp,
        "webhook-signature": signature(secret, str(delivery.pk), stamp, delivery.body),
    }


def secret_of(webhook: Webhook) -> str:
    return ciphers.decrypt(PURPOSE, webhook.secret)


def signature(secret: str, identifier: str, stamp: str, body: str) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{identifier}.{stamp}.{body}".encode()
    return f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"


def _delivery(webhook: Webhook, event: str, data: Mapping[str, Any]) -> Delivery:
    at = timezone.now().isoformat(timespec="seconds")
    body = msgspec.json.encode({"type": event, "timestamp": at, "data": dict(data)}).decode()
    return Delivery(id=ids.uuid7(), webhook=webhook, event=event, body=body)


def _shown(problem: str) -> str:
    """May quote what a receiver answered, which may be anything: Postgres takes no NUL."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in problem[:300])


def _new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
