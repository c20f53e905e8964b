"""What OpenAI's names stand for in a tenant."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import TenantView
from ttsapp.api.fields import Strict
from ttsapp.keys.authentication import Caller
from ttsapp.tenants.models import Permission
from ttsapp.voices.catalogue import ALIASES, Catalogue
from ttsapp.voices.selectors import visible
from ttsapp.voices.services import aliases


class NewTarget(Strict):
    target = serializers.CharField(
        max_length=100,
        help_text="A voice by its id or name, or, for a model's name, a model that is served.",
    )


class Alias(serializers.Serializer[Any]):
    name = serializers.ChoiceField(ALIASES)
    kind = serializers.ChoiceField(["voice", "model"])
    usual = serializers.CharField(help_text="Empty while no engine is there to tell.")
    target = serializers.CharField(help_text="Empty: as usual.")
    is_lost = serializers.BooleanField(help_text="The target is not there: requests are refused.")


class AliasList(serializers.Serializer[Any]):
    results = Alias(many=True)


@extend_schema(tags=["aliases"])
class Aliases(TenantView):
    permissions = dict.fromkeys(("partial_update", "destroy"), Permission.MANAGE_VOICES)
    lookup_field = "id"
    lookup_value_converter = "slug"

    @extend_schema(operation_id="aliases_list", summary="List OpenAI's names", responses=AliasList)
    def list(self, request: Request) -> Response:
        return Response({"results": Alias(aliases.standings(self._served()), many=True).data})

    @extend_schema(summary="Look at one of OpenAI's names", responses=Alias)
    def retrieve(self, request: Request, id: str) -> Response:
        return Response(self._document(id))

    @extend_schema(
        summary="Have a name stand for another voice or model",
        request=NewTarget,
        responses=Alias,
    )
    def partial_update(self, request: Request, id: str) -> Response:
        self._change(id, NewTarget.of_body(request)["target"])
        return Response(self._document(id))

    @extend_schema(
        summary="Have a name stand for what it usually does", request=None, responses={204: None}
    )
    def destroy(self, request: Request, id: str) -> Response:
        self._change(id, "")
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _change(self, name: str, target: str) -> None:
        wanted = {name: aliases.checked(self._served(), name, target)}
        aliases.change_aliases(self.access.actor, self.access.tenant, wanted)

    def _document(self, name: str) -> Any:
        found = next(
            (each for each in aliases.standings(self._served()) if each.name == name), None
        )
        if found is None:
            raise Http404
        return Alias(found).data

    def _served(self) -> Catalogue:
        caller = Caller(self.access.tenant.pk, None, self.access.actor.label)
        return async_to_sync(visible)(caller)
