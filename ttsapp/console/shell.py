"""What every page of a tenant has around its content."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ttsapp.tenants import selectors as tenants
from ttsapp.tenants.models import Membership, Permission


def page(
    request: HttpRequest,
    membership: Membership,
    name: str,
    content: dict[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Renders console/NAME.html; `name` is also the entry of the navigation that is current."""
    around = {
        "tenant": membership.tenant,
        "role": membership.role,
        "memberships": tenants.memberships(request.user),
        "may_speak": membership.may(Permission.SPEAK),
        "may_manage_keys": membership.may(Permission.MANAGE_KEYS),
        "page": name,
        "base": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, f"console/{name}.html", around | content, status=status)
