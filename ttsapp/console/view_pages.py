"""Saving a list's filters under a name, and removing what was saved."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from ttsapp import locks
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.console import lists, navigation
from ttsapp.console.models import SavedView
from ttsapp.console.places import Place
from ttsapp.tenants.names import check_line

MOST_VIEWS = 50


class ViewForm(forms.Form):
    name = forms.CharField(max_length=60, validators=[check_line])
    query = forms.CharField(max_length=1000)
    is_shared = forms.BooleanField(required=False)


def save(request: HttpRequest, place: Place, page: str) -> HttpResponse:
    """Under a name that the person has used before, the filters are replaced."""
    filters = lists.filters_of(place.tenant, page)
    if not filters or not navigation.may_open(place.tenant is None, page, place.permissions):
        raise Http404
    form = ViewForm(request.POST)
    query = lists.kept(filters, request.POST.get("query", ""))
    if not form.is_valid() or not query:
        return redirect(f"{place.url(page)}?{query}" if query else place.url(page))
    assert isinstance(request.user, User), "the page is for who is signed in"
    wanted = form.cleaned_data
    _save(request.user, place, page, wanted["name"], query, is_shared=wanted["is_shared"])
    return redirect(f"{place.url(page)}?{query}")


def remove(request: HttpRequest, place: Place, view_id: UUID) -> HttpResponse:
    """One's own, or a shared one for who looks after the place."""
    view = SavedView.objects.filter(pk=view_id, tenant=place.tenant).first()
    if view is None or (view.user_id != request.user.pk and not view.is_shared):
        raise Http404
    if view.user_id != request.user.pk and not place.is_in_charge:
        raise PermissionDenied
    with transaction.atomic():
        view.delete()
        if view.is_shared:
            actor = Actor.of(request.user)
            record(actor, Action.VIEW_REMOVED, place.tenant, view.name, page=view.page)
    return redirect(place.url(view.page))


@transaction.atomic
def _save(user: User, place: Place, page: str, name: str, query: str, *, is_shared: bool) -> None:
    locks.hold(f"views of {user.pk}")
    own = SavedView.objects.filter(user=user, tenant=place.tenant)
    own.filter(page=page, name=name).delete()
    for old in own.order_by("-id")[MOST_VIEWS - 1 :]:
        old.delete()
    SavedView.objects.create(
        user=user, tenant=place.tenant, page=page, name=name, query=query, is_shared=is_shared
    )
    if is_shared:
        actor = Actor.of(user)
        record(actor, Action.VIEW_SHARED, place.tenant, name, page=page, query=query)
