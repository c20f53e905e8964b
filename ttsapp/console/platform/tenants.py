"""The tenants of the installation: found, made, renamed, limited, suspended and restored."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from billing import reports
from billing.budgets import budget
from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import platform_page, require
from ttsapp.console.periods import month
from ttsapp.console.shell import platform_page as page
from ttsapp.console.views.members import Invited, link
from ttsapp.limits.fields import NAMES
from ttsapp.limits.rules import Limits
from ttsapp.tenants import invitations, selectors, services
from ttsapp.tenants.forms import NewTenantForm, TenantForm
from ttsapp.tenants.models import Invitation, PlatformPermission, PlatformRole, Role, Tenant
from ttsapp.tenants.names import check_line

PAGE = 50
COLUMNS = exports.fields(
    *("name", "slug", "created_at", "suspended_at", "suspended_because"),
    *("member_count", "key_count", *NAMES),
)


class SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=100, label="Name")
    state = forms.ChoiceField(
        required=False,
        choices=[("", "any"), ("active", "active"), ("suspended", "suspended")],
    )
    page = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=300, label="Reason, which the tenant's people read", validators=[check_line]
    )


class OwnerForm(forms.Form):
    label = forms.CharField(
        max_length=200, label="Whom: a name or an address", validators=[check_line]
    )


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.VIEW)
def tenants(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    if request.method == "POST":
        return _create(request, role)
    return _list(request, role, NewTenantForm())


@require_safe
@platform_page(PlatformPermission.VIEW)
def tenants_csv(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    search = SearchForm(request.GET)
    if not search.is_valid():
        return _list(request, role, NewTenantForm())
    wanted = search.cleaned_data
    found = selectors.counted(selectors.tenants(wanted["q"], wanted["state"]))
    return exports.table(COLUMNS, found, "tenants")


@require_http_methods(["GET", "HEAD", "POST"])
@platform_page(PlatformPermission.VIEW)
def tenant(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    found = _find(slug)
    if request.method == "POST":
        return _change(request, role, found)
    return _show(request, role, found, TenantForm(initial=_now(found)))


@require_POST
@platform_page(PlatformPermission.MANAGE_TENANTS)
def suspend(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    found, form = _find(slug), ReasonForm(request.POST)
    if not form.is_valid():
        return _show(request, role, found, TenantForm(initial=_now(found)), form, status=400)
    services.suspend_tenant(Actor.of(request.user), found, form.cleaned_data["reason"])
    return redirect("platform:tenant", slug=slug)


@require_POST
@platform_page(PlatformPermission.MANAGE_TENANTS)
def invite(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    """An owner, who invites the others."""
    found, form = _find(slug), OwnerForm(request.POST)
    if form.is_valid():
        label = form.cleaned_data["label"]
        invitations.invite(Actor.of(request.user), found, label, Role.OWNER)
    return redirect("platform:tenant", slug=slug)


@require_POST
@platform_page(PlatformPermission.MANAGE_TENANTS)
def restore(request: HttpRequest, role: PlatformRole, slug: str) -> HttpResponse:
    services.restore_tenant(Actor.of(request.user), _find(slug))
    return redirect("platform:tenant", slug=slug)


def _create(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    require(role, PlatformPermission.MANAGE_TENANTS)
    form = NewTenantForm(request.POST)
    if not form.is_valid():
        return _list(request, role, form, status=400)
    made = services.create_tenant(
        Actor.of(request.user), form.cleaned_data["name"], form.cleaned_data["slug"]
    )
    return redirect("platform:tenant", slug=made.slug)


def _change(request: HttpRequest, role: PlatformRole, found: Tenant) -> HttpResponse:
    require(role, PlatformPermission.MANAGE_TENANTS)
    form = TenantForm(request.POST)
    if not form.is_valid():
        return _show(request, role, found, form, status=400)
    actor, wanted = Actor.of(request.user), form.cleaned_data
    with transaction.atomic():
        services.rename_tenant(actor, found, wanted["name"])
        services.limit_tenant(actor, found, Limits(**{name: wanted[name] for name in NAMES}))
    return redirect("platform:tenant", slug=found.slug)


def _list(
    request: HttpRequest, role: PlatformRole, form: NewTenantForm, status: int = 200
) -> HttpResponse:
    search = SearchForm(request.GET)
    if not search.is_valid():
        return page(request, role, "tenants", {"search": search, "form": form}, status=400)
    wanted = search.cleaned_data
    rows = selectors.counted(selectors.tenants(wanted["q"], wanted["state"]))
    shown = Paginator(rows, PAGE).get_page(wanted["page"])
    used = reports.charged_by_tenant((each.pk for each in shown), month(), timezone.now())
    content = {
        "search": search,
        "form": form,
        "shown": shown,
        "rows": [(each, budget(each, used.get(each.pk, 0))) for each in shown],
        "is_filtered": bool(wanted["q"] or wanted["state"]),
    }
    return page(request, role, "tenants", content, status)


def _show(
    request: HttpRequest,
    role: PlatformRole,
    found: Tenant,
    form: TenantForm,
    reason: ReasonForm | None = None,
    status: int = 200,
) -> HttpResponse:
    usual = {name.replace("_", " "): most for name, most in settings.TENANT_LIMITS.items()}
    content = {
        "shown": found,
        "form": form,
        "usual": usual,
        "reason": reason or ReasonForm(),
        "members": selectors.members(found),
        "owner": OwnerForm(),
        "invited": [Invited(row, link(request, row)) for row in _owners_invited(role, found)],
        "page": "tenants",
    }
    return page(request, role, "tenant", content, 400 if form.errors else status)


def _owners_invited(role: PlatformRole, found: Tenant) -> QuerySet[Invitation]:
    """Not for auditors: who has the link may become an owner."""
    if not role.may(PlatformPermission.MANAGE_TENANTS):
        return Invitation.objects.none()
    return invitations.pending(found).filter(role=Role.OWNER)


def _find(slug: str) -> Tenant:
    found = selectors.tenants().filter(slug=slug).first()
    if found is None:
        raise Http404
    return found


def _now(found: Tenant) -> dict[str, object]:
    return {"name": found.name, **{name: getattr(found, name) for name in NAMES}}
