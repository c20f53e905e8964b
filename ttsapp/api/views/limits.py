"""What a tenant may use, and what of it is used this month."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import TenantView
from ttsapp.api.fields import LimitsFields
from ttsapp.limits import selectors
from ttsapp.limits.admission import with_defaults


class LimitsInForce(serializers.Serializer[Any]):
    own = LimitsFields(help_text="Set for this tenant; null where it has none of its own.")
    in_force = LimitsFields(help_text="With the installation's where it has none of its own.")
    month_characters_charged = serializers.IntegerField(help_text="Since the first, UTC.")


@extend_schema(tags=["limits"])
class LimitsView(TenantView):
    @extend_schema(summary="What may be used", responses=LimitsInForce)
    def list(self, request: Request) -> Response:
        tenant = self.access.tenant
        return Response(
            {
                "own": asdict(tenant.limits),
                "in_force": asdict(with_defaults(tenant.limits)),
                "month_characters_charged": selectors.spent(_month(), tenant.pk, None),
            }
        )


def _month() -> datetime:
    return datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
