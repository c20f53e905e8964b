"""What this installation decides where the sign-in library asks."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest

from ttsapp import ciphers

PURPOSE = "second factors"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """People come by invitation; pages say what has happened, so no messages pile up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        return None


class OidcAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Whom the company's own provider vouches for has an account; tenants still have to let
    them in."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return True


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of authenticator apps are kept encrypted under the installation's key."""

    def encrypt(self, text: str) -> str:
        return ciphers.encrypt(PURPOSE, text)

    def decrypt(self, encrypted_text: str) -> str:
        return ciphers.decrypt(PURPOSE, encrypted_text)

    def get_totp_issuer(self) -> str:
        return "Parlance"

    def _get_site_name(self) -> str:
        return "Parlance"
