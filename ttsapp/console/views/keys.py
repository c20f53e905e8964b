"""Keys: made by a form that redirects, shown once; changed and rotated after a question."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from billing import reports
from billing.budgets import Budget, budget
from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import member_page
from ttsapp.console.periods import month
from ttsapp.console.platform.refusals import refused
from ttsapp.console.shell import page
from ttsapp.keys import selectors, services
from ttsapp.keys.forms import KeyRulesForm
from ttsapp.keys.models import ApiKey, Environment
from ttsapp.keys.secrets import parse
from ttsapp.tenants.models import Membership, Permission, Tenant
from ttsapp.tenants.names import check_line
from ttsapp.voices.bound import check_models, check_names

# The new key waits for its one showing in its maker's own browser: nothing on the server keeps it.
COOKIE = "new_key"
COOKIE_SECONDS = 120


COLUMNS: exports.Columns = {
    **exports.fields("public_id", "name", "environment", "state", "created_at", "created_by"),
    **exports.fields("expires_at", "last_used_at", "last_used_address", "last_used_agent"),
    "scopes": lambda key: " ".join(key.scopes),
}


STATES = ("active", "expired", "revoked")


class SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=100, label="Name or id")
    state = forms.ChoiceField(
        required=False, choices=[("", "any"), *((state, state) for state in STATES)]
    )

    def found(self, tenant: Tenant) -> list[ApiKey]:
        """Nothing where it cannot be used."""
        if not self.is_valid():
            return []
        text, state = self.cleaned_data["q"].casefold(), self.cleaned_data["state"]
        return [
            key
            for key in selectors.of_tenant(tenant)
            if text in f"{key.name} {key.public_id}".casefold() and state in ("", key.state)
        ]


class KeyForm(KeyRulesForm):
    name = forms.CharField(max_length=100, validators=[check_line])
    environment = forms.ChoiceField(choices=Environment.choices, initial=Environment.LIVE)
    days = forms.IntegerField(min_value=1, max_value=3650, required=False, label="Days")

    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None


class RotateForm(forms.Form):
    hours = forms.IntegerField(min_value=0, max_value=24 * 90, initial=24)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.VIEW)
def keys(request: HttpRequest, membership: Membership) -> HttpResponse:
    if request.method == "POST":
        return _create(request, membership)
    return _list(request, membership, KeyForm())


@require_safe
@member_page(Permission.VIEW)
def keys_csv(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    return exports.table(COLUMNS, SearchForm(request.GET).found(tenant), f"keys-{tenant.slug}")


def _create(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Redirects to where the key is shown: reloading that page makes no other."""
    if not membership.may(Permission.MANAGE_KEYS):
        raise PermissionDenied
    _check_active(membership)
    form = KeyForm(request.POST)
    if not form.is_valid() or not _is_there(membership, form):
        return _list(request, membership, form, status=400)
    key, secret = services.create_key(
        Actor.of(request.user),
        membership.tenant,
        form.cleaned_data["name"],
        Environment(form.cleaned_data["environment"]),
        form.expires_at(),
        **form.rules(),
    )
    return _to_be_shown(membership, key, secret)


def _to_be_shown(membership: Membership, key: ApiKey, secret: str) -> HttpResponse:
    where = reverse("console:new_key", args=(membership.tenant.slug, key.public_id))
    response = redirect(where)
    response.set_cookie(
        COOKIE,
        secret,
        max_age=COOKIE_SECONDS,
        path=where,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Strict",
    )
    return response


@require_safe
@member_page(Permission.MANAGE_KEYS)
def new_key(request: HttpRequest, membership: Membership, public_id: str) -> HttpResponse:
    """The key, if this browser has just made it; the second time the page says that it is gone."""
    key = key_of(membership, public_id)
    text = request.COOKIES.get(COOKIE, "")
    secret = text if _is_text_of(text, key) else None
    response = page(request, membership, "key", {"key": key, "secret": secret, "page": "keys"})
    response.delete_cookie(COOKIE, path=request.path, samesite="Strict")
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_KEYS)
def change_key(request: HttpRequest, membership: Membership, public_id: str) -> HttpResponse:
    _check_active(membership)
    key = key_of(membership, public_id)
    now = {name: getattr(key, name) for name in services.RULES}
    form = KeyRulesForm(request.POST if request.method == "POST" else None, initial=now)
    if request.method == "POST" and form.is_valid() and _is_there(membership, form, key):
        services.change_key(Actor.of(request.user), key, **form.rules())
        return redirect("console:keys", slug=membership.tenant.slug)
    content = {"key": key, "form": form, "page": "keys"}
    return page(request, membership, "change_key", content, 400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_KEYS)
def rotate_key(request: HttpRequest, membership: Membership, public_id: str) -> HttpResponse:
    """Like a new key, the new secret is shown once."""
    _check_active(membership)
    key = key_of(membership, public_id)
    form = RotateForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        overlap = timedelta(hours=form.cleaned_data["hours"])
        secret = services.rotate_key(Actor.of(request.user), key, overlap)
        if secret is not None:
            return _to_be_shown(membership, key, secret)
    content = {"key": key, "form": form, "page": "keys"}
    return page(request, membership, "rotate", content, 400 if form.errors else 200)


def _is_there(membership: Membership, form: KeyRulesForm, key: ApiKey | None = None) -> bool:
    """Whether there is what the key is to be bound to; else the form says what is not. What it is
    bound to already stays."""
    checks = (("allowed_voices", check_names), ("allowed_models", check_models))
    found = [
        refused(
            form,
            partial(check, membership.tenant_id, form.cleaned_data[name], getattr(key, name, ())),
        )
        for name, check in checks
    ]
    return not any(found)


def _check_active(membership: Membership) -> None:
    """While it is suspended, keys are only revoked."""
    if membership.tenant.suspended_at is not None:
        raise PermissionDenied("This account is suspended: its keys can only be revoked.")


def _list(
    request: HttpRequest, membership: Membership, form: KeyForm, status: int = 200
) -> HttpResponse:
    search = SearchForm(request.GET)
    content = {
        "keys": _with_budgets(membership.tenant, search.found(membership.tenant)),
        "search": search,
        "is_filtered": bool(request.GET.get("q") or request.GET.get("state")),
        "form": form,
    }
    return page(request, membership, "keys", content, 400 if search.errors else status)


def _with_budgets(tenant: Tenant, keys: Sequence[ApiKey]) -> list[tuple[ApiKey, Budget]]:
    used = reports.charged_by_key(tenant, month(), timezone.now())
    return [(key, budget(key, used.get(key.pk, 0))) for key in keys]


def key_of(membership: Membership, public_id: str) -> ApiKey:
    key = selectors.of_tenant(membership.tenant).filter(public_id=public_id).first()
    if key is None:
        raise Http404
    return key


def _is_text_of(text: str, key: ApiKey) -> bool:
    parsed = parse(text)
    return parsed is not None and hmac.compare_digest(parsed.secret_hash, bytes(key.secret_hash))
