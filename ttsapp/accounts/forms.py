"""The library's forms for passwords and codes, each with a limit on guesses."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import LoginForm
from allauth.account.forms import ReauthenticateForm as PasswordForm
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import TOTP
from django import forms
from django.core.exceptions import ValidationError

from ttsapp.accounts import attempts

TOO_MANY = "too_many_attempts"


def too_many() -> ValidationError:
    minutes = int(attempts.WINDOW.total_seconds() // 60)
    return ValidationError(
        f"Too many attempts: wait {minutes} minutes, then try again.", code=TOO_MANY
    )


class SignInForm(LoginForm):  # type: ignore[misc]
    """A missing password asks for nobody: no guess, and no success that would forget some."""

    def clean(self) -> dict[str, Any]:
        if self.errors:
            return dict(self.cleaned_data)
        name, address = self.cleaned_data["login"], self.request.META.get("REMOTE_ADDR", "")
        if not attempts.admits_password(name, address):
            raise too_many()
        cleaned: dict[str, Any] = super().clean()
        attempts.forget_passwords(name, address)
        return cleaned

    @property
    def is_throttled(self) -> bool:
        return bool(self.has_error("__all__", TOO_MANY))


class _LimitedCode(forms.Form):
    """Before the library's form, which looks at the code."""

    user: Any

    def clean_code(self) -> str:
        if not attempts.admits_code(self.user.get_username()):
            raise too_many()
        code: str = super().clean_code()  # type: ignore[misc]
        attempts.forget_codes(self.user.get_username())
        return code


class AddAppForm(ActivateTOTPForm):  # type: ignore[misc]
    """The code that shows that the app works is used up by that, as at signing in."""

    def clean_code(self) -> str:
        code: str = super().clean_code()
        TOTP(Authenticator(user=self.user))._mark_code_used(code)
        return code


class CodeForm(_LimitedCode, AuthenticateForm):  # type: ignore[misc]
    """The second step of signing in."""


class ConfirmCodeForm(_LimitedCode, ReauthenticateForm):  # type: ignore[misc]
    """Before what a stolen session must not do."""


class ConfirmPasswordForm(PasswordForm):  # type: ignore[misc]
    """The same by password. A session is at hand, so guesses count for its person, anywhere."""

    def clean_password(self) -> str:
        if not attempts.admits_code(self.user.get_username()):
            raise too_many()
        password: str = super().clean_password()
        attempts.forget_codes(self.user.get_username())
        return password
