"""What the installation chooses of signing in; docs/admins.md explains the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from ttsapp import environment

APPS = (
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
)
PROVIDER = "company"


@dataclass(frozen=True, slots=True)
class Oidc:
    """The company's own identity provider, as people read its name on the sign-in page."""

    issuer: str
    client_id: str
    client_secret: str
    name: str

    @property
    def provider(self) -> str:
        return PROVIDER


def oidc() -> Oidc | None:
    """None where no issuer is set. Raises ImproperlyConfigured where only a part is."""
    issuer = environment.web_address("PARLANCE_OIDC_ISSUER")
    client_id = environment.text("PARLANCE_OIDC_CLIENT_ID")
    secret = environment.text("PARLANCE_OIDC_CLIENT_SECRET")
    if not issuer and not client_id and not secret:
        return None
    if not (issuer and client_id and secret):
        raise ImproperlyConfigured(
            "PARLANCE_OIDC_ISSUER, PARLANCE_OIDC_CLIENT_ID and PARLANCE_OIDC_CLIENT_SECRET belong"
            " together: set all three or none"
        )
    name = environment.text("PARLANCE_OIDC_NAME", "your company's account")
    return Oidc(issuer, client_id, secret, name)


def oidc_apps(provider: Oidc | None) -> list[dict[str, Any]]:
    """As the library's settings have them."""
    if provider is None:
        return []
    return [
        {
            "provider_id": PROVIDER,
            "name": provider.name,
            "client_id": provider.client_id,
            "secret": provider.client_secret,
            "settings": {"server_url": provider.issuer, "oauth_pkce_enabled": True},
        }
    ]
