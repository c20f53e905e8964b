"""The installation's own webhooks."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ttsapp.console import webhook_pages
from ttsapp.console.access import platform_page
from ttsapp.console.places import of_platform
from ttsapp.tenants.models import PlatformPermission, PlatformRole


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.OPERATE)
def webhooks(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return webhook_pages.index(request, of_platform(request, role))


@require_safe
@platform_page(PlatformPermission.OPERATE)
def webhook(request: HttpRequest, role: PlatformRole, webhook_id: int) -> HttpResponse:
    return webhook_pages.detail(of_platform(request, role), webhook_id)


@require_POST
@platform_page(PlatformPermission.OPERATE)
def act(request: HttpRequest, role: PlatformRole, webhook_id: int, action: str) -> HttpResponse:
    return webhook_pages.act(request, of_platform(request, role), webhook_id, action)


@require_POST
@platform_page(PlatformPermission.OPERATE)
def resend(
    request: HttpRequest, role: PlatformRole, webhook_id: int, delivery_id: UUID
) -> HttpResponse:
    return webhook_pages.resend(of_platform(request, role), webhook_id, delivery_id)
