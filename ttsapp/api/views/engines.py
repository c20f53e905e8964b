"""The engines, and what operators do with them."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import PlatformView
from ttsapp.api.fields import Strict
from ttsapp.audit.services import Actor
from ttsapp.console.live.sampler import look
from ttsapp.engine import operations
from ttsapp.engine.operations import LONGEST_TRACE, SHORTEST_TRACE, TRACE_SECONDS, Keep
from ttsapp.tenants.models import PlatformPermission
from ttsapp.tenants.names import check_line

ACTS = ("drain", "undrain", "pin", "unpin", "unload", "trace")


class PinnedVoice(serializers.Serializer[Any]):
    id = serializers.CharField(help_text="As in what pinned it.")
    name = serializers.CharField()
    entries = serializers.IntegerField(help_text="In all of its caches.")
    bytes = serializers.IntegerField()


class EngineNow(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="Its place in PARLANCE_ENGINE, from 1 on.")
    id = serializers.CharField()
    state = serializers.CharField(help_text="ready, draining, starting, down, or away.")
    models = serializers.ListField(child=serializers.CharField())
    version = serializers.CharField()
    device = serializers.CharField()
    streams = serializers.IntegerField()
    capacity = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="Streams that have no audio yet.")
    fits = serializers.IntegerField(allow_null=True, help_text="More streams in real time.")
    pinned = PinnedVoice(many=True)


class EnginesNow(serializers.Serializer[Any]):
    results = EngineNow(many=True)


class Reason(Strict):
    reason = serializers.CharField(
        max_length=300, validators=[check_line], help_text="For the audit log."
    )


class OfVoice(Reason):
    voice = serializers.CharField(
        max_length=200, help_text="A preset of the engine's, or the id of a tenant's voice."
    )


class Tracing(Reason):
    seconds = serializers.IntegerField(
        min_value=SHORTEST_TRACE, max_value=LONGEST_TRACE, default=TRACE_SECONDS
    )


class Drained(serializers.Serializer[Any]):
    was_drained = serializers.BooleanField()
    drained = serializers.BooleanField()
    streams = serializers.IntegerField(help_text="That still run.")


class Held(serializers.Serializer[Any]):
    pinned = serializers.BooleanField()
    entries = serializers.IntegerField(help_text="In all caches.")
    bytes = serializers.IntegerField()


class Kept(serializers.Serializer[Any]):
    before = Held()
    after = Held()


@extend_schema(tags=["platform"])
class EnginesView(PlatformView):
    permissions = dict.fromkeys(ACTS, PlatformPermission.MANAGE_ENGINES)
    lookup_field = "number"
    lookup_value_converter = "int"

    @extend_schema(
        operation_id="platform_engines_list",
        summary="Look at the engines as they are now",
        responses=EnginesNow,
    )
    def list(self, request: Request) -> Response:
        seen = async_to_sync(look)().engines
        return Response(EnginesNow({"results": seen}).data)

    @extend_schema(
        summary="Have an engine take no new work; what runs goes on",
        request=Reason,
        responses=Drained,
    )
    @action(detail=True, methods=["post"])
    def drain(self, request: Request, number: int) -> Response:
        return self._drain(request, number, drained=True)

    @extend_schema(summary="Have it take work again", request=Reason, responses=Drained)
    @action(detail=True, methods=["post"])
    def undrain(self, request: Request, number: int) -> Response:
        return self._drain(request, number, drained=False)

    @extend_schema(
        summary="Have a voice stay in the engine's caches", request=OfVoice, responses=Kept
    )
    @action(detail=True, methods=["post"])
    def pin(self, request: Request, number: int) -> Response:
        return self._keep(request, number, Keep.PIN)

    @extend_schema(summary="Have it stay only while it is used", request=OfVoice, responses=Kept)
    @action(detail=True, methods=["post"])
    def unpin(self, request: Request, number: int) -> Response:
        return self._keep(request, number, Keep.UNPIN)

    @extend_schema(
        summary="Take a voice out of the engine's caches", request=OfVoice, responses=Kept
    )
    @action(detail=True, methods=["post"])
    def unload(self, request: Request, number: int) -> Response:
        return self._keep(request, number, Keep.UNLOAD)

    @extend_schema(
        summary="Capture what its loop does, for Perfetto: answered when it is done",
        request=Tracing,
        responses={(200, "application/gzip"): OpenApiTypes.BINARY},
    )
    @action(detail=True, methods=["post"])
    def trace(self, request: Request, number: int) -> HttpResponse:
        wanted = Tracing.of_body(request)
        actor = Actor.of(request.user)
        made = operations.trace(actor, number, wanted["seconds"], wanted["reason"])
        headers = {"Content-Disposition": f'attachment; filename="{made.name}"'}
        return HttpResponse(made.content, "application/gzip", headers=headers)

    def _drain(self, request: Request, number: int, *, drained: bool) -> Response:
        reason = Reason.of_body(request)["reason"]
        answer = operations.drain(Actor.of(request.user), number, drained, reason)
        return Response(Drained(answer).data)

    def _keep(self, request: Request, number: int, keep: Keep) -> Response:
        wanted = OfVoice.of_body(request)
        actor = Actor.of(request.user)
        answer = operations.keep_voice(actor, number, wanted["voice"], keep, wanted["reason"])
        return Response(Kept(answer).data)
