"""The first tenant, its owner and its key: what a new installation needs to be of use."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

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
    is_superuser: bool


@transaction.atomic
def bootstrap(tenant_name: str, slug: str, username: str, *, new_key: bool) -> Setup:
    """Makes what is missing and leaves the rest as it is; several may run at once."""
    tenant = _tenant(tenant_name, slug)
    user, password = _user(username)
    if not tenant.memberships.filter(user=user).exists():
        add_member(SYSTEM, tenant, user, Role.OWNER)
    key, secret = _key(tenant, new_key)
    hint = key.hint if key else None
    return Setup(slug, username, password, secret, hint, user.is_superuser)


def _tenant(name: str, slug: str) -> Tenant:
    """Locked: whoever runs the same bootstrap beside this one waits here, and then finds all."""
    found = Tenant.objects.select_for_update().filter(slug=slug)
    tenant = found.first()
    if tenant is not None:
        return tenant
    try:
        with transaction.atomic():
            return create_tenant(SYSTEM, name, slug)
    except IntegrityError:
        return found.get()


def _user(username: str) -> tuple[User, str | None]:
    """Only an installation's first administrator is one: later owners are people like others."""
    found = User.objects.filter(username=username)
    user = found.first()
    if user is not None:
        return user, None
    password = secrets.token_urlsafe(12)
    is_first = not User.objects.filter(is_superuser=True).exists()
    make = User.objects.create_superuser if is_first else User.objects.create_user
    try:
        with transaction.atomic():
            return make(username, password=password), password
    except IntegrityError:
        return found.get(), None


def _key(tenant: Tenant, new_key: bool) -> tuple[ApiKey | None, str | None]:
    found = ApiKey.objects.filter(tenant=tenant, revoked_at=None).first()
    if found is not None and not new_key:
        return found, None
    return create_key(SYSTEM, tenant, "First key" if found is None else "Another key")
