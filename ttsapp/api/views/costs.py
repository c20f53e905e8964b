"""What a million characters costs on this installation, beside what it is sold for."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from billing.costs.report import report
from ttsapp.api.base import PlatformView
from ttsapp.api.fields import Days, MicrosField, ShareField

MOST_DAYS = 366


class CostsQuery(Days):
    target_percent = serializers.IntegerField(min_value=1, max_value=100, default=50)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        if (attrs["until"] - attrs["since"]).days >= MOST_DAYS:
            raise serializers.ValidationError({"until": f"At most {MOST_DAYS} days at once."})
        return attrs


TOP_UPS = "Charged on top of them, for a price's minimum; no cost is divided by these."


class CostFigures(serializers.Serializer[Any]):
    characters = serializers.IntegerField(help_text="Charged ones, which somebody heard.")
    top_up_characters = serializers.IntegerField(source="top_ups", help_text=TOP_UPS)
    busy_cost = MicrosField(allow_null=True, help_text="Null, here and below: not known.")
    idle_cost = MicrosField(allow_null=True)
    fixed_cost = MicrosField()
    revenue = MicrosField(allow_null=True)
    cost_per_million = MicrosField(allow_null=True)
    revenue_per_million = MicrosField(allow_null=True)
    margin = ShareField(allow_null=True)


class CostDay(serializers.Serializer[Any]):
    day = serializers.DateField()
    figures = CostFigures()


class CostOfClass(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    up_hours = ShareField()
    busy_hours = ShareField()
    cost = MicrosField(allow_null=True)
    per_hour = MicrosField(allow_null=True)
    characters_per_second = ShareField(allow_null=True)
    at_full_load = MicrosField(allow_null=True, help_text="Of a million characters.")
    at_target = MicrosField(allow_null=True, help_text="Of a million characters.")
    break_even = ShareField(allow_null=True, help_text="Utilisation; above 1: never.")


class CostPart(serializers.Serializer[Any]):
    name = serializers.CharField()
    characters = serializers.IntegerField()
    top_up_characters = serializers.IntegerField(source="top_ups", help_text=TOP_UPS)
    gpu_ms = serializers.IntegerField()
    share = ShareField()
    cost = MicrosField(allow_null=True)
    revenue = MicrosField(allow_null=True)


class Costs(serializers.Serializer[Any]):
    since = serializers.DateField()
    until = serializers.DateField(source="last", help_text="The last day that is in it.")
    currency = serializers.CharField()
    total = CostFigures()
    days = CostDay(many=True)
    classes = CostOfClass(many=True)
    tenants = CostPart(many=True)
    voices = CostPart(many=True)


@extend_schema(tags=["platform"])
class CostsView(PlatformView):
    queries = dict.fromkeys(("list",), CostsQuery)

    @extend_schema(summary="Cost, revenue and margin", parameters=[CostsQuery], responses=Costs)
    def list(self, request: Request) -> Response:
        wanted = CostsQuery.of_query(request)
        until = wanted["until"] + timedelta(days=1)
        found = report(wanted["since"], until, Fraction(wanted["target_percent"], 100))
        return Response(Costs(found).data)
