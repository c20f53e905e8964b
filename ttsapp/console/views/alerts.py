"""A tenant's alerts."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ttsapp.console import alert_pages, places
from ttsapp.console.access import member_page
from ttsapp.tenants.models import Membership, Permission


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.VIEW)
def alerts(request: HttpRequest, membership: Membership) -> HttpResponse:
    place = places.of_tenant(request, membership)
    if request.method != "POST":
        return alert_pages.alerts(request, place)
    if not membership.may(Permission.MANAGE_SETTINGS):
        raise PermissionDenied
    return alert_pages.set_addresses(request, place)


@require_POST
@member_page(Permission.MANAGE_SETTINGS)
def mute(request: HttpRequest, membership: Membership, code: str) -> HttpResponse:
    return alert_pages.mute(request, places.of_tenant(request, membership), code)


@require_safe
@member_page(Permission.VIEW)
def alerts_csv(request: HttpRequest, membership: Membership) -> HttpResponse:
    return alert_pages.changes_csv(request, places.of_tenant(request, membership))
