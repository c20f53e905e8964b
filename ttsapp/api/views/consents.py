"""The consents that a tenant's clones rest on. They are recorded with their proof through OpenAI's
calls or in the console; here they are looked up, with all that was made under them, and ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import TenantView
from ttsapp.api.fields import Strict
from ttsapp.api.views.requests import LoggedRequest, logged
from ttsapp.tenants.models import Permission
from ttsapp.voices import library, selectors
from ttsapp.voices.models import Consent as Row
from ttsapp.voices.models import Relation
from ttsapp.voices.services import consents as services


class Withdrawal(Strict):
    reason = serializers.CharField(max_length=300, default="", allow_blank=True)


class Consent(serializers.Serializer[Any]):
    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    person = serializers.CharField(help_text="Who speaks.")
    relation = serializers.ChoiceField(Relation.choices)
    purposes = serializers.CharField()
    territory = serializers.CharField()
    language = serializers.CharField()
    state = serializers.ChoiceField(["active", "expired", "withdrawn"])
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    withdrawn_because = serializers.CharField()
    deleted_at = serializers.DateTimeField(
        allow_null=True, help_text="What was made under it stays on record."
    )


class Made(serializers.Serializer[Any]):
    """What was made under a consent, by everybody who could use its voices."""

    requests = serializers.IntegerField()
    characters = serializers.IntegerField()
    audio_ms = serializers.IntegerField()
    by_others = serializers.IntegerField(help_text="Requests of accounts it was shared with.")


class ConsentWithUse(Consent):
    made = Made()


@extend_schema(tags=["consents"])
class Consents(TenantView):
    paged_actions = frozenset({"list", "register"})
    permissions = dict.fromkeys(("withdraw", "destroy"), Permission.MANAGE_VOICES)
    lookup_field = "id"
    lookup_value_converter = "slug"

    @extend_schema(summary="List consents, newest first", responses=Consent(many=True))
    def list(self, request: Request) -> Response:
        return self.paged(selectors.consents(self.access.tenant), _documents)

    @extend_schema(summary="Look at a consent and its use", responses=ConsentWithUse)
    def retrieve(self, request: Request, id: str) -> Response:
        row = self._recorded(id)
        made = Made(library.register(row)).data
        return Response({**Consent(row).data, "made": made})

    @extend_schema(
        summary="List all audio that was made under a consent, newest first",
        responses=LoggedRequest(many=True),
    )
    @action(detail=True, methods=["get"])
    def register(self, request: Request, id: str) -> Response:
        tenant, made = self.access.tenant, library.made_under(self._recorded(id))
        return self.paged(made, lambda rows: logged(tenant, rows))

    @extend_schema(
        summary="Withdraw a consent: its voices stop within a second",
        request=Withdrawal,
        responses=Consent,
    )
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, id: str) -> Response:
        reason = Withdrawal.of_body(request)["reason"]
        services.withdraw_consent(self.access.actor, self._consent(id), reason)
        return Response(Consent(self._consent(id)).data)

    @extend_schema(
        summary="Delete a consent, its voices and its proof", request=None, responses={204: None}
    )
    def destroy(self, request: Request, id: str) -> Response:
        services.delete_consent(self.access.actor, self._consent(id))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _recorded(self, public_id: str) -> Row:
        row = selectors.recorded_consent(self.access.tenant.pk, public_id)
        if row is None:
            raise Http404
        return row

    def _consent(self, public_id: str) -> Row:
        row = selectors.consent_of(self.access.tenant.pk, public_id)
        if row is None:
            raise Http404
        return row


def _documents(rows: Iterable[Row]) -> Any:
    return Consent(rows, many=True).data
