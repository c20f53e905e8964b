"""Where an invitation leads: in, with the account at hand or a new one."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django import forms
from django.contrib.auth import login, password_validation
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from ttsapp.errors import ApiError
from ttsapp.tenants import invitations
from ttsapp.tenants.models import Invitation


class NewPersonForm(forms.Form):
    username = forms.CharField(max_length=150, label="User name")
    password = forms.CharField(
        max_length=200,
        strip=False,
        label="Password, 12 characters or more",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_username(self) -> str:
        name = str(get_adapter().clean_username(self.cleaned_data["username"], shallow=True))
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("Somebody has this name: choose another, or sign in.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "password" in cleaned:
            person = User(username=cleaned.get("username", ""))
            try:
                password_validation.validate_password(cleaned["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return cleaned


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    found = invitations.find(token)
    if found is None:
        raise Http404
    if request.user.is_authenticated:
        return _join(request, found)
    form = NewPersonForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        return _make(request, found, form)
    return _ask(request, found, form, 400 if form.errors else 200)


def _join(request: HttpRequest, found: Invitation) -> HttpResponse:
    if request.method != "POST":
        return _ask(request, found, None)
    assert request.user.is_authenticated
    try:
        invitations.accept(request.user, found)
    except ApiError as error:
        return _ask(request, found, None, error.status, error.message)
    return redirect("console:overview", slug=found.tenant.slug)


def _make(request: HttpRequest, found: Invitation, form: NewPersonForm) -> HttpResponse:
    wanted = form.cleaned_data
    with transaction.atomic():
        user = User.objects.create_user(wanted["username"], password=wanted["password"])
        invitations.accept(user, found)
    login(request, user)
    return redirect("console:overview", slug=found.tenant.slug)


def _ask(
    request: HttpRequest,
    found: Invitation,
    form: NewPersonForm | None,
    status: int = 200,
    problem: str = "",
) -> HttpResponse:
    content = {"invitation": found, "form": form, "problem": problem}
    return render(request, "account/invitation.html", content, status=status)
