"""From which values on alerts are raised, here and for every tenant."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from ttsapp.alerts import selectors, services
from ttsapp.audit.services import Actor
from ttsapp.console import places
from ttsapp.console.access import platform_page
from ttsapp.console.alert_pages import RuleForm
from ttsapp.tenants.models import PlatformPermission, PlatformRole


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.OPERATE)
def rule(request: HttpRequest, role: PlatformRole, code: str) -> HttpResponse:
    found = selectors.rule(code)
    if found is None:
        raise Http404
    now, is_enabled = found
    initial = {"warning": now.warning, "alert": now.alert, "is_enabled": is_enabled}
    form = RuleForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        services.choose(
            Actor.of(request.user),
            code,
            wanted["warning"],
            wanted["alert"],
            is_enabled=wanted["is_enabled"],
        )
        return redirect("platform:alerts")
    content = {"rule": now, "form": form, "page": "alerts"}
    status = 400 if form.errors else 200
    return places.of_platform(request, role).render("alert_rule", content, status)
