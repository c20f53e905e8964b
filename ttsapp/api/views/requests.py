"""The request log: how each request fared; and its text, where that is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from billing import selectors as billing
from ttsapp.api.base import Pages, TenantView
from ttsapp.api.fields import Moments
from ttsapp.speech import history, texts
from ttsapp.speech import selectors as speech
from ttsapp.speech.asked import unpack
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Permission, Tenant


class RequestQuery(Moments):
    ended = serializers.ChoiceField(list(history.ENDINGS), required=False)
    key = serializers.SlugField(required=False, max_length=50, help_text="A key's id, or console.")
    code = serializers.SlugField(required=False, max_length=50, help_text="An error code.")


class LoggedRequest(serializers.Serializer[RequestLog]):
    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    key = serializers.CharField(source="key.public_id", default=None, allow_null=True)
    transport = serializers.CharField()
    status = serializers.IntegerField()
    ended = serializers.CharField()
    error_code = serializers.CharField()
    error_field = serializers.CharField()
    model = serializers.CharField()
    voice = serializers.CharField()
    response_format = serializers.CharField()
    seed = serializers.IntegerField(allow_null=True)
    characters = serializers.IntegerField()
    characters_charged = serializers.IntegerField(default=0)
    audio_ms = serializers.IntegerField()
    first_audio_ms = serializers.IntegerField(allow_null=True)
    total_ms = serializers.IntegerField()
    settings = serializers.SerializerMethodField(
        help_text="What decided its audio beside text, voice and seed, where it was not as usual."
    )

    def get_settings(self, log: RequestLog) -> dict[str, Any]:
        return dict(unpack(log.asked) or {})


class RequestText(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    text = serializers.CharField()
    instructions = serializers.CharField(help_text="How it was to be said; empty for none.")


@extend_schema(tags=["requests"])
class Requests(TenantView):
    queries = dict.fromkeys(("list",), RequestQuery)
    paged_actions = frozenset({"list"})
    permissions = dict.fromkeys(("text",), Permission.READ_REQUESTS)
    lookup_field = "id"
    lookup_value_converter = "uuid"

    @extend_schema(
        summary="List requests, newest first",
        parameters=[RequestQuery],
        responses=LoggedRequest(many=True),
    )
    def list(self, request: Request) -> Response:
        search = history.Search(**RequestQuery.of_query(request, *Pages.parameters))
        tenant = self.access.tenant
        return self.paged(history.find(tenant, search), lambda rows: logged(tenant, rows))

    @extend_schema(summary="Look at a request", responses=LoggedRequest)
    def retrieve(self, request: Request, id: UUID) -> Response:
        tenant = self.access.tenant
        row = speech.request(tenant.pk, id)
        if row is None:
            raise Http404
        return Response(logged(tenant, [row])[0])

    @extend_schema(
        summary="Read a request's text, where it is kept: an audit row says who did",
        responses=RequestText,
    )
    @action(detail=True, methods=["get"])
    def text(self, request: Request, id: UUID) -> Response:
        found = texts.read(self.access.actor, self.access.tenant, id)
        if found is None:
            raise Http404
        return Response(RequestText(found).data)


def logged(tenant: Tenant, rows: Iterable[RequestLog]) -> list[dict[str, Any]]:
    """As documents, with what was charged for each."""
    rows = list(rows)
    charges = billing.charges(tenant.pk, (row.pk for row in rows))
    return [
        {**LoggedRequest(row).data, "characters_charged": charges.get(row.pk, 0)} for row in rows
    ]
