"""Whether all that is counted adds up: the last check at a glance, and all of them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from billing.tasks import check_ledger
from billing.upkeep import checks
from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import platform_page, require
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants.models import PlatformPermission, PlatformRole

PAGE = 50
COLUMNS = exports.fields(
    *("asked_at", "asked_by", "since", "until", "began_at", "ended_at", "differences", "problem")
)


class CheckForm(forms.Form):
    days = forms.IntegerField(
        min_value=1, max_value=checks.MOST_DAYS, initial=2, label="Days, today included (UTC)"
    )


class OlderForm(forms.Form):
    before = forms.UUIDField(required=False)


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.VIEW)
def metering(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    """A POST asks for a check now, which the worker runs."""
    if request.method != "POST":
        return page(request, role, "metering", _content(request, CheckForm()))
    require(role, PlatformPermission.OPERATE)
    form = CheckForm(request.POST)
    if not form.is_valid():
        return page(request, role, "metering", _content(request, form), 400)
    check = checks.ask(Actor.of(request.user), form.cleaned_data["days"])
    if check is not None:
        check_ledger.delay(str(check.pk))
    return redirect("platform:metering")


@require_safe
@platform_page(PlatformPermission.VIEW)
def metering_csv(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return exports.table(COLUMNS, checks.history(), "ledger-checks")


def _content(request: HttpRequest, form: CheckForm) -> dict[str, Any]:
    older = OlderForm(request.GET)
    before = older.cleaned_data.get("before") if older.is_valid() else None
    rows = checks.history()
    found = list((rows.filter(pk__lt=before) if before else rows)[: PAGE + 1])
    shown, has_more = found[:PAGE], len(found) > PAGE
    return {
        "standing": checks.standing(),
        "pending": checks.pending(),
        "rows": shown,
        "older": shown[-1].pk if has_more else None,
        "is_older": before is not None,
        "form": form,
    }
