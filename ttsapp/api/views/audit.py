"""Who changed what of a tenant's, and when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import Pages, TenantView
from ttsapp.api.fields import Moments
from ttsapp.audit import selectors
from ttsapp.audit.actions import Action
from ttsapp.audit.models import AuditEntry
from ttsapp.tenants.models import Permission


class AuditQuery(Moments):
    action = serializers.ChoiceField([action.value for action in Action], required=False)
    actor = serializers.CharField(
        required=False, max_length=200, help_text="As in an entry, or a part of it."
    )


class Entry(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    actor = serializers.CharField(help_text="user: and a name, key: and an id, or system.")
    action = serializers.CharField()
    target = serializers.CharField()
    changes = serializers.DictField(
        child=serializers.ListField(), help_text="What each field was and is."
    )
    reason = serializers.CharField()
    address = serializers.CharField()
    request_id = serializers.UUIDField(allow_null=True)
    hash = serializers.CharField(help_text="Over this entry and the one before it.")


@extend_schema(tags=["audit"])
class Audit(TenantView):
    queries = dict.fromkeys(("list",), AuditQuery)
    paged_actions = frozenset({"list"})
    permissions = dict.fromkeys(("list",), Permission.VIEW_AUDIT)

    @extend_schema(
        summary="List changes, newest first", parameters=[AuditQuery], responses=Entry(many=True)
    )
    def list(self, request: Request) -> Response:
        search = selectors.Search(**AuditQuery.of_query(request, *Pages.parameters))
        return self.paged(selectors.of_tenant(self.access.tenant.pk, search), _documents)


def _documents(entries: Iterable[AuditEntry]) -> Any:
    return Entry(entries, many=True).data
