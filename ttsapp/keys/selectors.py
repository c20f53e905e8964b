"""Reading keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from billing.credit import prepaid
from ttsapp.keys.models import ApiKey
from ttsapp.keys.rules import KeyRules
from ttsapp.limits.rules import Limits
from ttsapp.tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What authentication needs of a key and its tenant. `limits`: the tenant's, then its own.
    `shelf`: the number of the tenant's last change to its voices. `share`: of the engine, that the
    tenant has beside others. `audio_hours`, `text_days`: that it wants its audio and its
    texts kept. `funds`: what it has paid
    ahead, by currency, if it speaks on nothing else."""

    id: int
    public_id: str
    environment: str
    secret_hash: bytes
    tenant_id: int
    tenant_suspended: bool
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    limits: tuple[Limits, Limits]
    rules: KeyRules
    previous_hash: bytes | None
    previous_until: datetime | None
    shelf: int
    share: int
    audio_hours: int
    text_days: int
    funds: Mapping[str, int] | None


def find(public_ids: list[str]) -> dict[str, KeyRecord]:
    """Those of them that there are."""
    keys = ApiKey.objects.select_related("tenant", "tenant__shelf")
    found = list(keys.filter(public_id__in=public_ids))
    funds = prepaid.funds({key.tenant_id for key in found})
    return {key.public_id: _record(key, funds.get(key.tenant_id)) for key in found}


def _record(key: ApiKey, funds: Mapping[str, int] | None) -> KeyRecord:
    return KeyRecord(
        id=key.pk,
        public_id=key.public_id,
        environment=key.environment,
        secret_hash=bytes(key.secret_hash),
        tenant_id=key.tenant_id,
        tenant_suspended=key.tenant.suspended_at is not None,
        expires_at=key.expires_at,
        revoked_at=key.revoked_at,
        last_used_at=key.last_used_at,
        limits=(key.tenant.limits, key.limits),
        rules=key.rules,
        previous_hash=bytes(key.previous_hash) if key.previous_hash is not None else None,
        previous_until=key.previous_until,
        # A tenant that never had voices of its own has no row there.
        shelf=key.tenant.shelf.number if hasattr(key.tenant, "shelf") else 0,
        share=key.tenant.engine_share,
        audio_hours=key.tenant.audio_hours,
        text_days=key.tenant.text_days,
        funds=funds,
    )


def unused(tenant: Tenant, since: datetime) -> QuerySet[ApiKey]:
    """Active keys that nobody has used since then; one that never was, since it was made."""
    still = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    keys = ApiKey.objects.filter(still, tenant=tenant, revoked_at=None)
    return keys.annotate(last=Coalesce("last_used_at", "created_at")).filter(last__lt=since)


def of_tenant(tenant: Tenant) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(tenant=tenant).select_related("created_by")
