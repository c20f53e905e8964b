"""Signing in, and the page of one's own account."""

from __future__ import annotations

from allauth.account.views import LoginView
from django.conf import settings
from django.http import HttpResponse

from ttsapp.accounts import attempts
from ttsapp.accounts.forms import SignInForm


class SignIn(LoginView):  # type: ignore[misc]
    form_class = SignInForm

    def form_invalid(self, form: SignInForm) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        if form.is_throttled:
            response.status_code = 429
            response["Retry-After"] = str(int(attempts.WINDOW.total_seconds()))
        return response

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        found: dict[str, object] = super().get_context_data(**kwargs)
        return {**found, "oidc": settings.OIDC}
