"""A tenant's people: who they are, what they may do, and who is invited."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import member_page
from ttsapp.console.filters import MemberFilters
from ttsapp.console.shell import page
from ttsapp.errors import ApiError
from ttsapp.tenants import invitations, selectors, services
from ttsapp.tenants.forms import InvitationForm, RoleForm
from ttsapp.tenants.models import Invitation, Membership, Permission, Role


@dataclass(frozen=True, slots=True)
class Invited:
    """An open invitation, with the link that lets somebody in."""

    row: Invitation
    link: str


@dataclass(frozen=True, slots=True)
class Right:
    """A row of the table of what each role may do, in the roles' order."""

    permission: str
    may: tuple[bool, ...]


COLUMNS: exports.Columns = {
    "name": attrgetter("user.username"),
    "role": attrgetter("role"),
    "since": attrgetter("created_at"),
    "last_signed_in": attrgetter("user.last_login"),
}
RIGHTS = tuple(
    Right(permission.value.replace("_", " "), tuple(role.may(permission) for role in Role))
    for permission in Permission
)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.VIEW)
def members(request: HttpRequest, membership: Membership) -> HttpResponse:
    if request.method == "POST":
        return _invite(request, membership)
    return _list(request, membership, InvitationForm(giver=Role(membership.role)))


@require_safe
@member_page(Permission.VIEW)
def members_csv(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    found = MemberFilters(request.GET).found(tenant)
    return exports.table(COLUMNS, found, f"members-{tenant.slug}")


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_MEMBERS)
def member(request: HttpRequest, membership: Membership, member_id: int) -> HttpResponse:
    """Another role, or none: one page with both."""
    found, giver = _find(membership, member_id), Role(membership.role)
    form = RoleForm(
        request.POST if request.method == "POST" else None,
        giver=giver,
        initial={"role": found.role},
    )
    if request.method != "POST" or not form.is_valid():
        return _show(request, membership, found, form)
    try:
        services.change_role(Actor.of(request.user), found, form.chosen())
    except ApiError as error:
        form.add_error("role", error.message)
        return _show(request, membership, found, form)
    return redirect("console:members", slug=membership.tenant.slug)


@require_POST
@member_page(Permission.MANAGE_MEMBERS)
def remove_member(request: HttpRequest, membership: Membership, member_id: int) -> HttpResponse:
    found = _find(membership, member_id)
    try:
        services.remove_member(Actor.of(request.user), found)
    except ApiError as error:
        form = RoleForm(giver=Role(membership.role), initial={"role": found.role})
        return _show(request, membership, found, form, error.message)
    return redirect("console:members", slug=membership.tenant.slug)


@require_POST
@member_page(Permission.MANAGE_MEMBERS)
def withdraw(request: HttpRequest, membership: Membership, invitation_id: int) -> HttpResponse:
    found = invitations.pending(membership.tenant).filter(pk=invitation_id).first()
    if found is None:
        raise Http404
    invitations.withdraw(Actor.of(request.user), found)
    return redirect("console:members", slug=membership.tenant.slug)


def _invite(request: HttpRequest, membership: Membership) -> HttpResponse:
    giver = Role(membership.role)
    if not giver.may(Permission.MANAGE_MEMBERS):
        raise PermissionDenied
    form = InvitationForm(request.POST, giver=giver)
    if not form.is_valid():
        return _list(request, membership, form, status=400)
    invitations.invite(
        Actor.of(request.user), membership.tenant, form.cleaned_data["label"], form.chosen()
    )
    return redirect("console:members", slug=membership.tenant.slug)


def _list(
    request: HttpRequest, membership: Membership, form: InvitationForm, status: int = 200
) -> HttpResponse:
    is_manager = membership.may(Permission.MANAGE_MEMBERS)
    search = MemberFilters(request.GET)
    content = {
        "search": search,
        "members": search.found(membership.tenant),
        "invited": _invited(request, membership) if is_manager else (),
        "form": form,
        "rights": RIGHTS,
    }
    return page(request, membership, "members", content, 400 if search.errors else status)


def _show(
    request: HttpRequest,
    membership: Membership,
    found: Membership,
    form: RoleForm,
    problem: str = "",
) -> HttpResponse:
    content = {"member": found, "form": form, "problem": problem, "page": "members"}
    is_refused = bool(form.errors or problem)
    return page(request, membership, "member", content, 400 if is_refused else 200)


def _find(membership: Membership, member_id: int) -> Membership:
    """403 for an owner, where whoever asks is none."""
    found = selectors.members(membership.tenant).filter(pk=member_id).first()
    if found is None:
        raise Http404
    if not Role(membership.role).may_give(Role(found.role)):
        raise PermissionDenied
    return found


def _invited(request: HttpRequest, membership: Membership) -> list[Invited]:
    """An owner's place is shown to owners alone: its link would make whoever has it one."""
    giver = Role(membership.role)
    shown = [
        row for row in invitations.pending(membership.tenant) if giver.may_give(Role(row.role))
    ]
    return [Invited(row, link(request, row)) for row in shown]


def link(request: HttpRequest, row: Invitation) -> str:
    path = reverse("invitation", args=[invitations.token(row)])
    return request.build_absolute_uri(path)
