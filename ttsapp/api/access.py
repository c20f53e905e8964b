"""What a caller may do in a tenant, by the same table as the console."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rest_framework.request import Request

from ttsapp.api.authentication import KeyUser
from ttsapp.audit.services import Actor
from ttsapp.errors import ApiError
from ttsapp.keys.rules import KeyScope
from ttsapp.tenants import selectors
from ttsapp.tenants.models import Membership, Permission, PlatformPermission, Role, Tenant

# Who may make keys may make one that manages: it must not be worth more than its maker.
KEY_ROLE = Role.DEVELOPER


@dataclass(frozen=True, slots=True)
class Access:
    """A caller's standing in one tenant. `scopes`: the most that a key it makes may have. `key_id`:
    the key that calls; None of a person."""

    tenant: Tenant
    actor: Actor
    role: Role
    scopes: frozenset[str]
    key_id: int | None = None

    def lacks(self, scopes: Iterable[str]) -> str | None:
        """The first of these that is not the caller's to give; None where all are."""
        return next((scope for scope in scopes if scope not in self.scopes), None)

    def check(self, permission: Permission) -> None:
        """Raises ApiError 403."""
        if not self.role.may(permission):
            message = f"The role {self.role.value} may not do this: ask an owner of the account."
            raise ApiError(403, "forbidden", message)


def in_tenant(request: Request, slug: str) -> Access:
    """Raises ApiError 404 for a tenant that is not there and for one that is not theirs."""
    found = next((one for one in everywhere(request) if one.tenant.slug == slug), None)
    if found is None:
        raise ApiError(404, "unknown_tenant", "There is no such tenant.", field="tenant")
    return found


def everywhere(request: Request) -> list[Access]:
    """Every tenant that the caller has any standing in."""
    if isinstance(request.user, KeyUser):
        caller = request.user.caller
        tenant = selectors.tenant(caller.tenant_id)
        assert caller.rules is not None
        return [Access(tenant, caller.actor, KEY_ROLE, caller.rules.scopes, caller.key_id)]
    actor = Actor.of(request.user)
    return [_of_person(actor, membership) for membership in selectors.memberships(request.user)]


def in_platform(request: Request, permission: PlatformPermission) -> None:
    """Raises ApiError 404 for who has no part in running the installation, and 403 for who may
    not do this."""
    role = None if isinstance(request.user, KeyUser) else selectors.platform_role(request.user)
    if role is None:
        raise ApiError(404, "not_found", "There is nothing at this address that is yours.")
    if not role.may(permission):
        raise ApiError(403, "forbidden", f"The role {role.value} may not do this.")


def _of_person(actor: Actor, membership: Membership) -> Access:
    every_scope = frozenset(scope.value for scope in KeyScope)
    return Access(membership.tenant, actor, Role(membership.role), every_scope)
