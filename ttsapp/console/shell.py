"""What every page of a tenant has around its content."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ttsapp.console import navigation
from ttsapp.tenants import selectors as tenants
from ttsapp.tenants.models import Membership, Permission, Role


def page(
    request: HttpRequest,
    membership: Membership,
    name: str,
    content: dict[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Renders console/NAME.html; that, or `content["page"]`, is current in the navigation.
    Templates ask `may.manage_keys` and the like."""
    around = {
        "tenant": membership.tenant,
        "role": membership.role,
        "memberships": tenants.memberships(request.user),
        "may": {permission.value: membership.may(permission) for permission in Permission},
        "base": request.build_absolute_uri("/").rstrip("/"),
    }
    permissions, current = Role(membership.role).permissions, content.get("page", name)
    around["links"] = navigation.of_tenant(membership.tenant.slug, current, permissions)
    return render(request, f"console/{name}.html", around | content, status=status)
