"""Texts of requests, where their tenants want them kept: for so many days, and no longer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from ttsapp import ids
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.speech.models import KeptText
from ttsapp.tenants.models import Tenant

# Of a longer one its beginning is shown while it is masked.
MOST_MASKED = 300


@transaction.atomic
def keep_texts(actor: Actor, tenant: Tenant, days: int) -> bool:
    """For how many days requests' texts are kept; 0: not at all. What is older by then goes at
    once. False when that is as it was."""
    locked = Tenant.objects.select_for_update().get(pk=tenant.pk)
    if locked.text_days == days:
        return False
    Tenant.objects.filter(pk=tenant.pk).update(text_days=days)
    _beyond(tenant.pk, days).delete()
    changes = {"text_days": (locked.text_days, days)}
    record(actor, Action.TEXT_RETENTION_CHANGED, tenant, tenant.slug, changes=changes)
    return True


@dataclass(frozen=True, slots=True)
class Said:
    """A request's text, and its instructions, which are text too."""

    tenant_id: int
    request_id: UUID
    text: str
    instructions: str


def write(said: Iterable[Said]) -> None:
    """Inside the transaction that writes their rows. What has no text is not to be kept."""
    rows = [
        KeptText(
            id=each.request_id,
            tenant_id=each.tenant_id,
            at=ids.moment(each.request_id),
            text=_storable(each.text),
            instructions=_storable(each.instructions),
        )
        for each in said
        if each.text
    ]
    if rows:
        KeptText.objects.bulk_create(rows, ignore_conflicts=True)


def find(tenant: Tenant, request_id: UUID) -> KeptText | None:
    """None for what is not kept, or no longer: whether or not it is removed already."""
    found = KeptText.objects.filter(tenant=tenant, pk=request_id).first()
    since = timezone.now() - timedelta(days=tenant.text_days)
    return found if found is not None and found.at > since else None


@transaction.atomic
def read(actor: Actor, tenant: Tenant, request_id: UUID) -> KeptText | None:
    """With an audit row of who read it."""
    found = find(tenant, request_id)
    if found is None:
        return None
    record(actor, Action.REQUEST_READ, tenant, str(request_id))
    return found


def masked(text: str) -> str:
    """Its shape, without a letter or digit of it."""
    shown = re.sub(r"\w", "•", text[:MOST_MASKED])
    return shown + ("…" if len(text) > MOST_MASKED else "")


def remove_expired() -> int:
    """Those whose days are over, of every tenant. Returns how many."""
    kept = Tenant.objects.filter(pk__in=KeptText.objects.values("tenant_id"))
    found = list(kept.values_list("pk", "text_days"))
    return sum(_beyond(tenant_id, days).delete()[0] for tenant_id, days in found)


def _beyond(tenant_id: int, days: int) -> QuerySet[KeptText]:
    before = timezone.now() - timedelta(days=days)
    return KeptText.objects.filter(tenant_id=tenant_id, at__lte=before)


def _storable(text: str) -> str:
    """What no database takes is shown as what cannot be shown."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
