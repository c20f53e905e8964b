"""The first tenant, its owner and its key: what a new installation needs to be of use."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from ttsapp.audit.services import SYSTEM
from ttsapp.keys.models import ApiKey
from ttsapp.keys.services import create_key
from ttsapp.tenants.models import Role, Tenant
from ttsapp.tenants.services import add_member, create_tenant


@dataclass(frozen=True, slots=True)
class Setup:
    """`password` and `key` are set only when this run made them: neither can be read again."""

    tenant: str
    username: str
    password: str | None
    key: str | None
    key_hint: str | None


@transaction.atomic
def bootstrap(tenant_name: str, slug: str, username: str, *, new_key: bool) -> Setup:
    """Makes what is missing and leaves the rest as it is."""
    tenant = Tenant.objects.filter(slug=slug).first() or create_tenant(SYSTEM, tenant_name, slug)
    user, password = _user(username)
    if not tenant.memberships.filter(user=user).exists():
        add_member(SYSTEM, tenant, user, Role.OWNER)
    key, secret = _key(tenant, new_key)
    return Setup(slug, username, password, secret, key.hint if key else None)


def _user(username: str) -> tuple[User, str | None]:
    found = User.objects.filter(username=username).first()
    if found is not None:
        return found, None
    password = secrets.token_urlsafe(12)
    return User.objects.create_superuser(username, password=password), password


def _key(tenant: Tenant, new_key: bool) -> tuple[ApiKey | None, str | None]:
    found = ApiKey.objects.filter(tenant=tenant, revoked_at=None).first()
    if found is not None and not new_key:
        return found, None
    return create_key(SYSTEM, tenant, "First key" if found is None else "Another key")
