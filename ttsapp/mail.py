"""Where mail goes: an smtp address as Django's settings have it."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
_BACKEND = "django.core.mail.backends.{}.EmailBackend"


def server(url: str) -> tuple[str, str, int, str, str]:
    """Backend, host, port, user and password. Without an address nothing is sent."""
    if not url:
        return _BACKEND.format("dummy"), "", 25, "", ""
    parts = urlsplit(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    port = parts.port or _PORTS[parts.scheme]
    return _BACKEND.format("smtp"), parts.hostname or "", port, user, password
