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
from ttsapp.voices.own import OwnVoice, Preset
from ttsapp.voices.selectors import catalogue


class Voice(serializers.Serializer[Any]):
    id = serializers.CharField(help_text="What requests call it.")
    name = serializers.CharField()
    kind = serializers.CharField(help_text="preset, or how a voice of your own was made.")
    model = serializers.CharField()
    native_language = serializers.CharField()
    description = serializers.CharField()
    is_own = serializers.BooleanField(help_text="Made by you, or shared with you.")


class VoicesList(serializers.Serializer[Any]):
    results = Voice(many=True)


@extend_schema(tags=["voices"])
class VoicesView(TenantView):
    @extend_schema(summary="List your voices and those that are served", responses=VoicesList)
    def list(self, request: Request) -> Response:
        caller = Caller(self.access.tenant.pk, None, self.access.actor.label)
        served = async_to_sync(catalogue)(caller)
        own = [_document(voice.model, voice) for voice in served.own]
        presets = [
            _document(model.id, preset) for model in served.models for preset in served.shown(model)
        ]
        return Response({"results": own + presets})


def _document(model: str, voice: Preset) -> dict[str, Any]:
    made = voice if isinstance(voice, OwnVoice) else None
    return {
        "id": voice.name,
        "name": made.label if made else voice.name,
        "kind": made.kind if made else "preset",
        "model": model,
        "native_language": voice.native_language,
        "description": voice.description,
        "is_own": made is not None,
    }
