"""Where a person lands: their first tenant, the installation, or word that there is neither."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from ttsapp.tenants import selectors as tenants


@never_cache
@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    first = tenants.memberships(request.user).first()
    if first is not None:
        return redirect("console:overview", slug=first.tenant.slug)
    if tenants.platform_role(request.user) is not None:
        return redirect("platform:overview")
    return render(request, "console/empty.html")
