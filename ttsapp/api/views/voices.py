"""A tenant's own voices, whether or not they can be spoken with now, and those that are served."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import TenantView
from ttsapp.api.fields import Strict
from ttsapp.errors import ApiError, voice_error
from ttsapp.keys.authentication import Caller
from ttsapp.tenants.models import Permission
from ttsapp.voices import selectors
from ttsapp.voices.catalogue import Catalogue
from ttsapp.voices.models import Voice as Row
from ttsapp.voices.own import OwnVoice, Preset
from ttsapp.voices.selectors import visible
from ttsapp.voices.services import reviews

STATES = ("active", "away", "draft", "review", "refused", "withdrawn", "expired")


class Voice(serializers.Serializer[Any]):
    id = serializers.CharField(help_text="What requests call it.")
    name = serializers.CharField()
    kind = serializers.CharField(help_text="preset, or how a voice of your own was made.")
    model = serializers.CharField()
    native_language = serializers.CharField()
    description = serializers.CharField()
    is_own = serializers.BooleanField(help_text="Made by you, or shared with you.")
    state = serializers.ChoiceField(
        STATES,
        help_text="away: no engine has its model now; how its consent has ended; or how far it is "
        "on its way to be used.",
    )


class Review(Strict):
    decision = serializers.ChoiceField(["approve", "refuse"])
    reason = serializers.CharField(max_length=300, default="", allow_blank=True)


class VoicesList(serializers.Serializer[Any]):
    results = Voice(many=True)
    is_complete = serializers.BooleanField(
        help_text="False while an engine is away: its own voices are not listed then."
    )


@extend_schema(tags=["voices"])
class VoicesView(TenantView):
    permissions = dict.fromkeys(("publish",), Permission.MANAGE_VOICES) | dict.fromkeys(
        ("review",), Permission.APPROVE_VOICES
    )
    lookup_field = "id"
    lookup_value_converter = "str"

    @extend_schema(summary="List your voices and those that are served", responses=VoicesList)
    def list(self, request: Request) -> Response:
        served = self._served()
        own = [_document(voice.model, voice) for voice in served.every_own]
        presets = [
            _document(model.id, preset) for model in served.models for preset in served.shown(model)
        ]
        return Response({"results": own + presets, "is_complete": not served.lacks_some})

    @extend_schema(summary="Look at a voice, by its id or name", responses=Voice)
    def retrieve(self, request: Request, id: str) -> Response:
        return Response(self._document(id))

    @extend_schema(
        summary="Publish a voice of your own, or ask for its approval",
        request=None,
        responses=Voice,
    )
    @action(detail=True, methods=["post"])
    def publish(self, request: Request, id: str) -> Response:
        reviews.publish(self.access.actor, self._row(id))
        return Response(self._document(id))

    @extend_schema(
        summary="Approve a voice that is in review, or refuse it", request=Review, responses=Voice
    )
    @action(detail=True, methods=["post"])
    def review(self, request: Request, id: str) -> Response:
        said = Review.of_body(request)
        is_approved = said["decision"] == "approve"
        row, reason = self._row(id), said["reason"]
        reviews.decide(self.access.actor, row, is_approved=is_approved, reason=reason)
        return Response(self._document(id))

    def _row(self, public_id: str) -> Row:
        row = selectors.voice_of(self.access.tenant.pk, public_id)
        if row is None:
            raise Http404
        return row

    def _document(self, id: str) -> dict[str, Any]:
        try:
            model, voice = self._served().voice(id)
        except ApiError as error:
            raise voice_error(error, "id") from None
        name = voice.model if isinstance(voice, OwnVoice) else model.id if model else ""
        return _document(name, voice)

    def _served(self) -> Catalogue:
        caller = Caller(self.access.tenant.pk, None, self.access.actor.label)
        return async_to_sync(visible)(caller)


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
        "state": voice.state,
    }
