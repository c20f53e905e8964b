"""What a tenant used, in all and by hour, day or key."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from billing import reports
from billing.reports import KeyUse, Period, Used
from ttsapp.api.base import TenantView
from ttsapp.api.fields import Days

# Rows of one answer: hours of a month, days of a year.
MOST_DAYS = {"hour": 31, "day": 366, "key": 366}
_BY_TIME = {"hour": reports.by_hour, "day": reports.by_day}


class UsageQuery(Days):
    by = serializers.ChoiceField(list(MOST_DAYS), default="day")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs, most = super().validate(attrs), MOST_DAYS[attrs["by"]]
        if (attrs["until"] - attrs["since"]).days >= most:
            message = f"At most {most} days at once by {attrs['by']}."
            raise serializers.ValidationError({"since": message})
        return attrs


class Total(serializers.Serializer[Used]):
    requests = serializers.IntegerField()
    characters = serializers.IntegerField()
    characters_charged = serializers.IntegerField(source="charged")
    audio_ms = serializers.IntegerField()
    failures = serializers.IntegerField()


class UsageRow(Total):
    """`start` where it is by time, the key where it is by key (`console`: none)."""

    start = serializers.DateTimeField(allow_null=True)
    key = serializers.CharField(allow_null=True)
    key_name = serializers.CharField(allow_null=True)


class Usage(serializers.Serializer[Any]):
    since = serializers.DateField()
    until = serializers.DateField()
    by = serializers.ChoiceField(list(MOST_DAYS))
    total = Total()
    rows = UsageRow(many=True)


@extend_schema(tags=["usage"])
class UsageView(TenantView):
    queries = dict.fromkeys(("list",), UsageQuery)

    @extend_schema(summary="What was used", parameters=[UsageQuery], responses=Usage)
    def list(self, request: Request) -> Response:
        wanted = UsageQuery.of_query(request)
        tenant, by = self.access.tenant, wanted["by"]
        start, end = _midnight(wanted["since"]), _midnight(wanted["until"]) + timedelta(days=1)
        if by == "key":
            rows = [_by_key(row) for row in reports.by_key(tenant, start, end)]
        else:
            rows = [_by_time(period) for period in _BY_TIME[by](tenant, start, end)]
        total = Total(reports.between(tenant, start, end)).data
        return Response({**wanted, "total": total, "rows": rows})


def _by_time(period: Period) -> dict[str, Any]:
    return {"start": period.start, "key": None, "key_name": None, **Total(period.used).data}


def _by_key(row: KeyUse) -> dict[str, Any]:
    key = row.public_id or reports.CONSOLE
    return {"start": None, "key": key, "key_name": row.name, **Total(row.used).data}


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
