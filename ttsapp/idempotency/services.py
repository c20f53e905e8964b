"""Claiming a key for a request, keeping its answer, and letting go of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from billing.models import UsageEvent
from billing.rating import Outcome
from billing.statements import Row, insert_new
from ttsapp import ids
from ttsapp.idempotency.models import KeyedRequest
from ttsapp.speech.models import RequestLog
from ttsapp.voices.models import Voice

# A process that lives renews a claim several times in a lease, also past a database that is away
# for a moment.
LEASE = timedelta(seconds=60)
BATCH = 500


@dataclass(frozen=True, slots=True)
class Claim:
    """Who asks for what, under which key."""

    tenant_id: int
    key_id: int | None
    name: str
    fingerprint: str
    request_id: UUID

    @property
    def id(self) -> UUID:
        written = repr((self.tenant_id, self.key_id, self.name))
        return UUID(bytes=blake2b(written.encode(), digest_size=16).digest())


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of a key that was used before. `body` None and not `is_running`: the answer
    was too long to be kept."""

    request_id: UUID
    is_same: bool
    is_running: bool
    headers: dict[str, str]
    body: bytes | None


def claim(wanted: Claim) -> Kept | None:
    """None: the key is this request's, which has to `keep` its answer or `release` it.

    Of those that come at once whoever inserts its row has the key; nobody takes away a row that it
    has not read."""
    while not insert_new(KeyedRequest, [_row(wanted)]):
        found = KeyedRequest.objects.filter(pk=wanted.id).first()
        if found is None:
            continue  # released a moment ago
        if found.expires_at > timezone.now() and not _is_abandoned(found):
            return Kept(
                found.request_id,
                found.fingerprint == wanted.fingerprint,
                _is_running(found),
                found.headers,
                None if found.body is None else bytes(found.body),
            )
        # Kept long enough, or left behind by a process that died.
        KeyedRequest.objects.filter(pk=found.pk, request_id=found.request_id).delete()
    return None


@transaction.atomic
def keep(done: Claim, headers: Mapping[str, str], body: bytes | None) -> bool:
    """Only of what was spoken to its end, as the ledger has it; anything else may be tried again,
    and a voice that was deleted meanwhile leaves nothing.

    False when it was released instead. Raises OperationalError before the ledger knows: whoever
    came again then would be charged too."""
    spoken = UsageEvent.objects.filter(pk=done.request_id).first()
    if spoken is None:
        raise OperationalError("what the request is charged is not written yet")
    if spoken.outcome != Outcome.COMPLETED or _is_gone(spoken.voice):
        release(done)
        return False
    kept = {"headers": dict(headers), "body": body, "size": len(body or b"")}
    return bool(_own(done).update(is_running=False, **kept))


def _is_gone(voice: str) -> bool:
    """Who deletes it waits for the transaction, and finds what that has kept."""
    found = Voice.objects.select_for_update(no_key=True).filter(public_id=voice).first()
    return found is not None and found.deleted_at is not None


def renew(held: Claim) -> None:
    """Its request is still being answered."""
    _own(held).update(leased_until=timezone.now() + LEASE)


def release(done: Claim) -> None:
    """The key may be used again."""
    _own(done).delete()


def forget_voice(name: str) -> None:
    """Removes the answers that were spoken with it, in whichever account."""
    since = ids.lowest(timezone.now() - timedelta(hours=settings.IDEMPOTENCY_HOURS))
    spoken = RequestLog.objects.filter(voice=name, id__gte=since).order_by()
    KeyedRequest.objects.filter(request_id__in=spoken.values("pk")).delete()


def prune(now: datetime | None = None) -> int:
    """Removes what was kept long enough, and the oldest answers of tenants that have too many."""
    now = now or timezone.now()
    removed = KeyedRequest.objects.filter(expires_at__lte=now).delete()[0]
    most = settings.IDEMPOTENCY_TENANT_BYTES
    large = KeyedRequest.objects.order_by().values("tenant_id").annotate(bytes=Sum("size"))
    for row in large.filter(bytes__gt=most):
        removed += _shrink(row["tenant_id"], row["bytes"] - most)
    return removed


def _shrink(tenant_id: int, excess: int) -> int:
    oldest = KeyedRequest.objects.filter(tenant_id=tenant_id, is_running=False)
    removed = 0
    while excess > 0:
        batch = list(oldest.order_by("created_at").values_list("pk", "size")[:BATCH])
        if not batch:
            break
        going = []
        for key, size in batch:
            if excess <= 0:
                break
            going.append(key)
            excess -= size
        removed += KeyedRequest.objects.filter(pk__in=going).delete()[0]
    return removed


def _is_abandoned(found: KeyedRequest) -> bool:
    """Its request has ended without keeping an answer: its client left, or its process died."""
    if not found.is_running:
        return False
    outcome = _outcome(found)
    if outcome is None:
        return found.leased_until <= timezone.now()
    return outcome != Outcome.COMPLETED


def _outcome(found: KeyedRequest) -> str | None:
    """As the ledger has it: None before it is settled."""
    ended = UsageEvent.objects.filter(pk=found.request_id)
    return ended.values_list("outcome", flat=True).first()


def _is_running(found: KeyedRequest) -> bool:
    """Not where its process died between its charge and its answer's being kept."""
    is_left = found.is_running and found.leased_until <= timezone.now()
    return found.is_running and not (is_left and _outcome(found) == Outcome.COMPLETED)


def _own(done: Claim) -> QuerySet[KeyedRequest]:
    return KeyedRequest.objects.filter(pk=done.id, request_id=done.request_id, is_running=True)


def _row(wanted: Claim) -> Row:
    now = timezone.now()
    return {
        "id": wanted.id,
        "tenant_id": wanted.tenant_id,
        "fingerprint": wanted.fingerprint,
        "request_id": wanted.request_id,
        "is_running": True,
        "leased_until": now + LEASE,
        "created_at": now,
        "expires_at": now + timedelta(hours=settings.IDEMPOTENCY_HOURS),
        "headers": {},
        "size": 0,
        "body": None,
    }
