"""What was changed in a tenant, by whom: read, exported, checked."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from ttsapp.audit import selectors
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record, scope_of
from ttsapp.console import audit_log
from ttsapp.console.access import member_page
from ttsapp.console.audit_log import AuditForm
from ttsapp.console.shell import page
from ttsapp.tenants.models import Membership, Permission


@require_safe
@member_page(Permission.VIEW_AUDIT)
def audit(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = AuditForm(request.GET)
    if not form.is_valid():
        return page(request, membership, "audit", {"form": form}, status=400)
    entries = selectors.of_tenant(membership.tenant_id, form.search())
    content = audit_log.content(form, entries)
    if "check" in request.GET:
        content["breaks"] = list(selectors.breaks(scope_of(membership.tenant_id)))
        content["is_checked"] = True
    return page(request, membership, "audit", content)


@require_safe
@member_page(Permission.VIEW_AUDIT)
def audit_export(request: HttpRequest, membership: Membership) -> HttpResponseBase:
    """Exporting is audited too."""
    form = AuditForm(request.GET)
    if not form.is_valid():
        return page(request, membership, "audit", {"form": form}, status=400)
    entries = selectors.of_tenant(membership.tenant_id, form.search())
    actor, filters = Actor.of(request.user), form.given()
    record(actor, Action.AUDIT_EXPORTED, membership.tenant, "audit", filters=filters)
    return audit_log.export(entries, f"audit-{membership.tenant.slug}")
