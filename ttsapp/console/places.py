"""Pages that a tenant and the installation both have: where they are, whose they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from ttsapp.console import shell
from ttsapp.tenants.models import Membership, PlatformRole, Tenant

Render = Callable[[str, dict[str, Any], int], HttpResponse]


@dataclass(frozen=True, slots=True)
class Place:
    """`tenant` is None for the installation."""

    tenant: Tenant | None
    render: Render
    _routes: str
    _arguments: tuple[str, ...]

    @property
    def tenant_id(self) -> int | None:
        return self.tenant.pk if self.tenant else None

    def url(self, page: str, *arguments: object) -> str:
        return reverse(f"{self._routes}:{page}", args=(*self._arguments, *arguments))


def of_tenant(request: HttpRequest, membership: Membership) -> Place:
    def render(name: str, content: dict[str, Any], status: int) -> HttpResponse:
        return shell.page(request, membership, name, content, status)

    return Place(membership.tenant, render, "console", (membership.tenant.slug,))


def of_platform(request: HttpRequest, role: PlatformRole) -> Place:
    def render(name: str, content: dict[str, Any], status: int) -> HttpResponse:
        return shell.platform_page(request, role, name, content, status)

    return Place(None, render, "platform", ())
