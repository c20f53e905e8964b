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
    email = serializers.CharField(source="user.email", help_text="Empty but for owners and admins.")
    role = serializers.ChoiceField(Role.choices)
    created_at = serializers.DateTimeField()


@extend_schema(tags=["members"])
class Members(TenantView):
    paged_actions = frozenset({"list"})

    @extend_schema(summary="List members, newest first", responses=Member(many=True))
    def list(self, request: Request) -> Response:
        return self.paged(selectors.members(self.access.tenant), self._documents)

    def _documents(self, members: Iterable[Membership]) -> Any:
        """As in the console, addresses are for who manages members."""
        found = Member(members, many=True).data
        if not self.access.role.may(Permission.MANAGE_MEMBERS):
            for one in found:
                one["email"] = ""
        return found
