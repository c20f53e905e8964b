"""What was changed in the installation and in all of its tenants."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from ttsapp.audit import selectors
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.console import audit_log
from ttsapp.console.access import platform_page
from ttsapp.console.audit_log import AuditForm
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole


@require_safe
@platform_page(PlatformPermission.VIEW_AUDIT)
def audit(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    form = AuditForm(request.GET)
    if not form.is_valid():
        return page(request, role, "audit", {"form": form}, status=400)
    content = audit_log.content(form, selectors.everything(form.search()))
    if "check" in request.GET:
        content["breaks"] = list(selectors.breaks())
        content["is_checked"] = True
    return page(request, role, "audit", content)


@require_safe
@platform_page(PlatformPermission.VIEW_AUDIT)
def audit_export(request: HttpRequest, role: PlatformRole) -> HttpResponseBase:
    form = AuditForm(request.GET)
    if not form.is_valid():
        return page(request, role, "audit", {"form": form}, status=400)
    entries = selectors.everything(form.search())
    record(Actor.of(request.user), Action.AUDIT_EXPORTED, None, "audit", filters=form.given())
    return audit_log.export(entries, "audit")
