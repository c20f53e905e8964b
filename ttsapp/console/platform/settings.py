"""How the installation is set up, and who looks after it."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from operator import attrgetter
from typing import Any

from django import forms
from django.conf import settings as chosen
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import platform_page, require
from ttsapp.console.shell import platform_page as page
from ttsapp.tenants import selectors
from ttsapp.tenants.models import PlatformPermission, PlatformRole
from ttsapp.tenants.services import set_platform_role, take_platform_role

NONE = "none"
COLUMNS: exports.Columns = {
    "username": attrgetter("username"),
    "role": lambda user: selectors.platform_role(user),
    "is_superuser": attrgetter("is_superuser"),
    "last_signed_in": attrgetter("last_login"),
}


class RoleForm(forms.Form):
    username = forms.CharField(max_length=150, label="User name")
    role = forms.ChoiceField(choices=[*PlatformRole.choices, (NONE, "none: take it away")])

    def clean_username(self) -> User:
        found = User.objects.filter(username=self.cleaned_data["username"]).first()
        if found is None:
            raise forms.ValidationError("Nobody has this user name.")
        return found


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.VIEW)
def settings(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    form = RoleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        require(role, PlatformPermission.MANAGE_OPERATORS)
        if form.is_valid():
            _give(Actor.of(request.user), form.cleaned_data)
            return redirect("platform:settings")
    content = {"form": form, "people": selectors.platform_people(), "facts": _facts()}
    return page(request, role, "settings", content, 400 if form.errors else 200)


@require_safe
@platform_page(PlatformPermission.VIEW)
def settings_csv(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    """The people."""
    return exports.table(COLUMNS, selectors.platform_people(), "operators")


def _give(actor: Actor, wanted: dict[str, Any]) -> None:
    if wanted["role"] == NONE:
        take_platform_role(actor, wanted["username"])
    else:
        set_platform_role(actor, wanted["username"], PlatformRole(wanted["role"]))


def _facts() -> tuple[tuple[str, str], ...]:
    """Nothing that is secret: neither addresses of servers nor names of files."""
    free = shutil.disk_usage(chosen.DATA).free / 2**30
    return (
        ("Version", version("parlance")),
        ("Database", connection.vendor),
        ("Redis", "yes" if chosen.REDIS_URL else "no: limits and jobs on this machine alone"),
        ("Engines", str(len(chosen.ENGINES))),
        ("HTTPS", "yes" if chosen.HTTPS else "no"),
        ("Sign-in by a provider", chosen.OIDC.name if chosen.OIDC else "no"),
        ("Mail", f"from {chosen.MAIL_FROM}" if chosen.MAIL_FROM else "none is sent"),
        ("Longest text of a request", f"{chosen.MAX_INPUT_CHARACTERS:,} characters"),
        ("Free on the data folder's disk", f"{free:,.1f} GiB"),
    )
