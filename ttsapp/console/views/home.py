"""Where a person lands: their first tenant, or word that there is none."""

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
    if first is None:
        return render(request, "console/empty.html")
    return redirect("console:overview", slug=first.tenant.slug)
