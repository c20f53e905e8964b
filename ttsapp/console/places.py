"""Pages that a tenant and the installation both have: where they are, whose they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from ttsapp.console import shell
from ttsapp.console.access import member_page, platform_page
from ttsapp.tenants.models import (
    Membership,
    Permission,
    PlatformPermission,
    PlatformRole,
    Role,
    Tenant,
)

View = Callable[..., HttpResponseBase]
Render = Callable[[str, dict[str, Any], int], HttpResponse]

# Of those who look after a place.
IN_CHARGE = frozenset({Permission.MANAGE_SETTINGS, PlatformPermission.OPERATE})


@dataclass(frozen=True, slots=True)
class Place:
    """`tenant` is None for the installation."""

    tenant: Tenant | None
    permissions: frozenset[Enum]
    render: Render
    _routes: str
    _arguments: tuple[str, ...]

    @property
    def is_in_charge(self) -> bool:
        return bool(self.permissions & IN_CHARGE)

    @property
    def tenant_id(self) -> int | None:
        return self.tenant.pk if self.tenant else None

    def url(self, page: str, *arguments: object) -> str:
        return reverse(f"{self._routes}:{page}", args=(*self._arguments, *arguments))


def of_tenant(request: HttpRequest, membership: Membership) -> Place:
    def render(name: str, content: dict[str, Any], status: int) -> HttpResponse:
        return shell.page(request, membership, name, content, status)

    may = frozenset[Enum](Role(membership.role).permissions)
    return Place(membership.tenant, may, render, "console", (membership.tenant.slug,))


def of_platform(request: HttpRequest, role: PlatformRole) -> Place:
    def render(name: str, content: dict[str, Any], status: int) -> HttpResponse:
        return shell.platform_page(request, role, name, content, status)

    return Place(None, frozenset[Enum](role.permissions), render, "platform", ())


def for_members(permission: Permission, page: View) -> View:
    """A place's page, as each tenant's members open it."""

    @member_page(permission)
    @wraps(page)
    def view(request: HttpRequest, membership: Membership, /, **rest: Any) -> HttpResponseBase:
        return page(request, of_tenant(request, membership), **rest)

    return view


def for_operators(permission: PlatformPermission, page: View) -> View:
    """The same page of the installation."""

    @platform_page(permission)
    @wraps(page)
    def view(request: HttpRequest, role: PlatformRole, /, **rest: Any) -> HttpResponseBase:
        return page(request, of_platform(request, role), **rest)

    return view
