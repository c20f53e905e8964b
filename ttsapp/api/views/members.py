"""The people of a tenant. They are invited, and given roles, in the console."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import TenantView
from ttsapp.tenants import selectors
from ttsapp.tenants.models import Membership, Permission, Role


class Member(serializers.Serializer[Any]):
    username = serializers.CharField(source="user.username")
    email = serializers.CharField(source="user.email")
    role = serializers.ChoiceField(Role.choices)
    created_at = serializers.DateTimeField()


@extend_schema(tags=["members"])
class Members(TenantView):
    permissions = dict.fromkeys(("list",), Permission.MANAGE_MEMBERS)

    @extend_schema(summary="List members, newest first", responses=Member(many=True))
    def list(self, request: Request) -> Response:
        return self.paged(selectors.members(self.access.tenant), _documents)


def _documents(members: Iterable[Membership]) -> Any:
    return Member(members, many=True).data
