"""A tenant's webhooks."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ttsapp.console import webhook_pages
from ttsapp.console.access import member_page
from ttsapp.console.places import of_tenant
from ttsapp.tenants.models import Membership, Permission


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_WEBHOOKS)
def webhooks(request: HttpRequest, membership: Membership) -> HttpResponse:
    return webhook_pages.index(request, of_tenant(request, membership))


@require_safe
@member_page(Permission.MANAGE_WEBHOOKS)
def webhook(request: HttpRequest, membership: Membership, webhook_id: int) -> HttpResponse:
    return webhook_pages.detail(of_tenant(request, membership), webhook_id)


@require_POST
@member_page(Permission.MANAGE_WEBHOOKS)
def act(request: HttpRequest, membership: Membership, webhook_id: int, action: str) -> HttpResponse:
    return webhook_pages.act(request, of_tenant(request, membership), webhook_id, action)


@require_POST
@member_page(Permission.MANAGE_WEBHOOKS)
def resend(
    request: HttpRequest, membership: Membership, webhook_id: int, delivery_id: UUID
) -> HttpResponse:
    return webhook_pages.resend(of_tenant(request, membership), webhook_id, delivery_id)
