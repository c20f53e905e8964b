"""The tenants that a caller belongs to; and, for who runs the installation, all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.db import IntegrityError
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.access import Access, everywhere, in_tenant
from ttsapp.api.base import ApiView, Pages, PlatformView
from ttsapp.api.fields import LimitsFields, Strict
from ttsapp.audit.services import Actor
from ttsapp.errors import ApiError
from ttsapp.limits.rules import Limits
from ttsapp.tenants import selectors, services
from ttsapp.tenants.models import (
    MOST_SHARE,
    PlatformPermission,
    Role,
    Tenant,
)
from ttsapp.tenants.names import check_line, check_slug


class OwnTenant(serializers.Serializer[Any]):
    """`role`: the caller's in it; a key's is that of who may make keys."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    suspended_at = serializers.DateTimeField(allow_null=True)
    suspended_because = serializers.CharField()
    role = serializers.ChoiceField(Role.choices)


class OwnTenants(serializers.Serializer[Any]):
    results = OwnTenant(many=True)


@extend_schema(tags=["tenants"])
class TenantsView(ApiView):
    lookup_field = "tenant"
    lookup_value_converter = "slug"

    @extend_schema(operation_id="tenants_list", summary="List your tenants", responses=OwnTenants)
    def list(self, request: Request) -> Response:
        return Response({"results": [_own(access) for access in everywhere(request)]})

    @extend_schema(summary="Look at one of your tenants", responses=OwnTenant)
    def retrieve(self, request: Request, tenant: str) -> Response:
        return Response(_own(in_tenant(request, tenant)))


class TenantQuery(Strict):
    search = serializers.CharField(required=False, max_length=100, help_text="In name or slug.")
    state = serializers.ChoiceField(["active", "suspended"], required=False)


class TenantChange(LimitsFields):
    name = serializers.CharField(max_length=100, required=False, validators=[check_line])
    engine_share = serializers.IntegerField(
        min_value=1,
        max_value=MOST_SHARE,
        required=False,
        help_text="Of a full engine, beside others' shares of 1.",
    )


class NewTenant(TenantChange):
    name = serializers.CharField(max_length=100, validators=[check_line])
    slug = serializers.CharField(max_length=50, validators=[check_slug])


class Suspension(Strict):
    reason = serializers.CharField(
        max_length=300,
        default="",
        allow_blank=True,
        validators=[check_line],
        help_text="The tenant's people read it.",
    )


class PlatformTenant(LimitsFields):
    slug = serializers.SlugField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    suspended_at = serializers.DateTimeField(allow_null=True)
    suspended_because = serializers.CharField()
    engine_share = serializers.IntegerField()


@extend_schema(tags=["platform"])
class PlatformTenants(PlatformView):
    queries = dict.fromkeys(("list",), TenantQuery)
    paged_actions = frozenset({"list"})
    permissions = dict.fromkeys(
        ("create", "partial_update", "suspend", "restore"), PlatformPermission.MANAGE_TENANTS
    )
    lookup_field = "slug"
    lookup_value_converter = "slug"

    @extend_schema(
        summary="List all tenants, newest first",
        parameters=[TenantQuery],
        responses=PlatformTenant(many=True),
    )
    def list(self, request: Request) -> Response:
        wanted = TenantQuery.of_query(request, *Pages.parameters)
        found = selectors.tenants(wanted.get("search", ""), wanted.get("state", ""))
        return self.paged(found, _documents)

    @extend_schema(summary="Make a tenant", request=NewTenant, responses={201: PlatformTenant})
    def create(self, request: Request) -> Response:
        wanted = NewTenant.of_body(request)
        name, slug = wanted.pop("name"), wanted.pop("slug")
        try:
            tenant = services.create_tenant(_actor(request), name, slug)
        except IntegrityError:
            message = f"There is a tenant {slug} already: choose another slug."
            raise ApiError(409, "tenant_exists", message, field="slug") from None
        share = wanted.pop("engine_share", None)
        services.limit_tenant(_actor(request), tenant, Limits(**wanted), share)
        return Response(PlatformTenant(_tenant(slug)).data, status.HTTP_201_CREATED)

    @extend_schema(summary="Look at a tenant", responses=PlatformTenant)
    def retrieve(self, request: Request, slug: str) -> Response:
        return Response(PlatformTenant(_tenant(slug)).data)

    @extend_schema(
        summary="Rename a tenant, or change its limits",
        request=TenantChange,
        responses=PlatformTenant,
    )
    def partial_update(self, request: Request, slug: str) -> Response:
        tenant = _tenant(slug)
        wanted = TenantChange.of_body(request, partial=True, instance=tenant)
        name = wanted.pop("name", tenant.name)
        if name != tenant.name:
            services.rename_tenant(_actor(request), tenant, name)
        share = wanted.pop("engine_share", None)
        limits = Limits(**{**asdict(tenant.limits), **wanted})
        services.limit_tenant(_actor(request), tenant, limits, share)
        return Response(PlatformTenant(_tenant(slug)).data)

    @extend_schema(
        summary="Suspend a tenant: its keys stop working within a second",
        request=Suspension,
        responses=PlatformTenant,
    )
    @action(detail=True, methods=["post"])
    def suspend(self, request: Request, slug: str) -> Response:
        reason = Suspension.of_body(request)["reason"]
        services.suspend_tenant(_actor(request), _tenant(slug), reason)
        return Response(PlatformTenant(_tenant(slug)).data)

    @extend_schema(summary="Restore a tenant", request=None, responses=PlatformTenant)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, slug: str) -> Response:
        services.restore_tenant(_actor(request), _tenant(slug))
        return Response(PlatformTenant(_tenant(slug)).data)


def _own(access: Access) -> dict[str, Any]:
    tenant = access.tenant
    names = ("slug", "name", "created_at", "suspended_at", "suspended_because")
    return {**{name: getattr(tenant, name) for name in names}, "role": access.role.value}


def _tenant(slug: str) -> Tenant:
    tenant = selectors.tenants().filter(slug=slug).first()
    if tenant is None:
        raise Http404
    return tenant


def _documents(tenants: Iterable[Tenant]) -> Any:
    return PlatformTenant(tenants, many=True).data


def _actor(request: Request) -> Actor:
    return Actor.of(request.user)
