"""The first calls, with this installation's address and this tenant's key in them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ttsapp.console.access import member_page
from ttsapp.console.shell import page
from ttsapp.keys import selectors as keys
from ttsapp.tenants.models import Membership, Permission


@require_safe
@member_page(Permission.VIEW)
def start(request: HttpRequest, membership: Membership) -> HttpResponse:
    usable = [key for key in keys.of_tenant(membership.tenant) if key.state == "active"]
    return page(request, membership, "start", {"key": usable[0] if usable else None})
