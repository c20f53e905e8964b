"""Signing in, with a limit on guesses: in the database, so that it holds over all processes."""

from __future__ import annotations

import ipaddress
from datetime import timedelta
from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.utils import timezone

from ttsapp.console.models import SignInAttempt

WINDOW = timedelta(minutes=15)
# Guesses at one name from one address, and at any names from one address. A name alone has no
# limit, or a stranger could lock its owner out.
MOST_OF_NAME, MOST_OF_ADDRESS = 5, 30
TOO_MANY = "too_many_attempts"


class SignInForm(AuthenticationForm):
    """An attempt is noted before the password is looked at: guesses at the same time count too."""

    def clean(self) -> dict[str, Any]:
        assert self.request is not None
        if not self.cleaned_data.get("password"):
            # Nobody is asked for: no guess, and no success that would forget earlier ones.
            return super().clean()
        name = str(self.cleaned_data.get("username", "")).casefold()[:150]
        address = network(self.request.META.get("REMOTE_ADDR", ""))
        attempt = _note(name, address)
        if _is_too_many(name, address):
            attempt.delete()
            minutes = int(WINDOW.total_seconds() // 60)
            message = f"Too many attempts: wait {minutes} minutes, then try again."
            raise ValidationError(message, code=TOO_MANY)
        cleaned = super().clean()
        if self.get_user() is not None:
            SignInAttempt.objects.filter(username=name, address=address).delete()
        return cleaned

    @property
    def is_throttled(self) -> bool:
        return self.has_error("__all__", TOO_MANY)


class AdminSignInForm(SignInForm, AdminAuthenticationForm):
    """The same for the stock admin's own page."""


class SignIn(LoginView):
    template_name = "console/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_invalid(form)
        if isinstance(form, SignInForm) and form.is_throttled:
            response.status_code = 429
            response["Retry-After"] = str(int(WINDOW.total_seconds()))
        return response


def network(address: str) -> str:
    """Who has an IPv6 address has all 2**64 of its network: they count as one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:50]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def _note(username: str, address: str) -> SignInAttempt:
    now = timezone.now()
    SignInAttempt.objects.filter(at__lt=now - WINDOW).delete()
    return SignInAttempt.objects.create(at=now, username=username, address=address)


def _is_too_many(username: str, address: str) -> bool:
    """With the attempt in hand already noted."""
    found = SignInAttempt.objects.filter(address=address, at__gte=timezone.now() - WINDOW)
    of_name = found.filter(username=username).count()
    return of_name > MOST_OF_NAME or found.count() > MOST_OF_ADDRESS
