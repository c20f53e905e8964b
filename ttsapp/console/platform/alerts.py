"""The installation's alerts, and from which values on all of them are raised."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ttsapp.alerts import selectors, services
from ttsapp.audit.services import Actor
from ttsapp.console import alert_pages, places
from ttsapp.console.access import platform_page, require
from ttsapp.console.alert_pages import RuleForm
from ttsapp.tenants.models import PlatformPermission, PlatformRole


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.VIEW)
def alerts(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    place = places.of_platform(request, role)
    if request.method != "POST":
        return alert_pages.alerts(request, place)
    require(role, PlatformPermission.OPERATE)
    return alert_pages.set_addresses(request, place)


@require_POST
@platform_page(PlatformPermission.OPERATE)
def mute(request: HttpRequest, role: PlatformRole, code: str) -> HttpResponse:
    return alert_pages.mute(request, places.of_platform(request, role), code)


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


@require_safe
@platform_page(PlatformPermission.VIEW)
def alerts_csv(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return alert_pages.changes_csv(request, places.of_platform(request, role))
