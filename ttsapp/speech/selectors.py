"""Reading the request log, always through a tenant."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Tenant


def request(tenant_id: int, request_id: UUID) -> RequestLog | None:
    return RequestLog.objects.filter(tenant_id=tenant_id, pk=request_id).first()


def newest(tenant: Tenant, count: int) -> QuerySet[RequestLog]:
    return RequestLog.objects.filter(tenant=tenant).select_related("key")[:count]
