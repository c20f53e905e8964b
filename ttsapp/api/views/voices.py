"""The voices that a tenant may ask for."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import TenantView
from ttsapp.keys.authentication import Caller
from ttsapp.voices.selectors import catalogue


class Voice(serializers.Serializer[Any]):
    id = serializers.CharField()
    model = serializers.CharField()
    native_language = serializers.CharField()
    languages = serializers.ListField(child=serializers.CharField())
    description = serializers.CharField()


class VoicesList(serializers.Serializer[Any]):
    results = Voice(many=True)


@extend_schema(tags=["voices"])
class VoicesView(TenantView):
    @extend_schema(summary="List the voices that are served", responses=VoicesList)
    def list(self, request: Request) -> Response:
        caller = Caller(self.access.tenant.pk, None, self.access.actor.label)
        served = async_to_sync(catalogue)(caller)
        found = [
            {
                "id": preset.name,
                "model": model.id,
                "native_language": preset.native_language,
                "languages": model.languages,
                "description": preset.description,
            }
            for model in served.models
            for preset in model.presets
        ]
        return Response({"results": found})
