"""What every page has around its content: of a tenant's, and of the installation's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject

from ttsapp.console import credit, lists, navigation
from ttsapp.tenants import selectors as tenants
from ttsapp.tenants.models import Membership, PlatformRole, Role, Tenant


def page(
    request: HttpRequest,
    membership: Membership,
    name: str,
    content: dict[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Renders console/NAME.html; that, or `content["page"]`, is current in the navigation.
    Templates ask `may.manage_keys` and the like."""
    tenant, permissions = membership.tenant, Role(membership.role).permissions
    around = {
        "place": tenant.name,
        "tenant": tenant,
        "credit_banner": SimpleLazyObject(partial(credit.banner, tenant)),
        "role": membership.role,
        "may": _named(permissions),
        "links": navigation.of_tenant(tenant.slug, content.get("page", name), permissions),
        "base": request.build_absolute_uri("/").rstrip("/"),
        "list": _tools(request, tenant, name, ("console", tenant.slug)),
    }
    return render(request, f"console/{name}.html", around | content, status=status)


def platform_page(
    request: HttpRequest, role: PlatformRole, name: str, content: dict[str, Any], status: int = 200
) -> HttpResponse:
    """The same for platform/NAME.html."""
    around = {
        "place": "Installation",
        "role": role.value,
        "platform_role": role,
        "may": _named(role.permissions),
        "links": navigation.of_platform(content.get("page", name), role.permissions),
        "list": _tools(request, None, name, ("platform",)),
    }
    return render(request, f"platform/{name}.html", around | content, status=status)


def _tools(request: HttpRequest, tenant: Tenant | None, name: str, where: Sequence[str]) -> Any:
    """What a list has above it, asked for where it is shown."""
    return SimpleLazyObject(partial(lists.tools, request, tenant, name, where))


def person(request: HttpRequest) -> dict[str, Any]:
    """For every template: where who is signed in may go, asked only where it is shown."""
    user = getattr(request, "user", None)
    if user is None:
        return {}
    role = partial(tenants.platform_role, user)
    return {"memberships": tenants.memberships(user), "platform_role": SimpleLazyObject(role)}


def _named(permissions: Iterable[Enum]) -> dict[str, bool]:
    return {permission.value: True for permission in permissions}
