"""Who may open which page: signed in, a member of the tenant, in a role that allows it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache

from ttsapp import database
from ttsapp.errors import ApiError
from ttsapp.http import error_response
from ttsapp.keys.authentication import SUSPENDED
from ttsapp.tenants import selectors
from ttsapp.tenants.models import Membership, Permission, PlatformPermission, PlatformRole

Rest = ParamSpec("Rest")
Page = Callable[Concatenate[HttpRequest, Membership, Rest], HttpResponseBase]
PlatformPage = Callable[Concatenate[HttpRequest, PlatformRole, Rest], HttpResponseBase]
Answer = Coroutine[Any, Any, HttpResponseBase]
Fetch = Callable[Concatenate[HttpRequest, Membership, Rest], Answer]


def member_page(
    permission: Permission,
) -> Callable[[Page[Rest]], Callable[..., HttpResponseBase]]:
    """404 for a tenant that is none of theirs: whether it exists is not told."""

    def decorate(
        page: Page[Rest],
    ) -> Callable[..., HttpResponseBase]:
        @never_cache
        @login_required
        @wraps(page)
        def guarded(
            request: HttpRequest, slug: str, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            membership = selectors.membership(request.user, slug)
            if membership is None:
                raise Http404
            if not membership.may(permission):
                raise PermissionDenied
            return page(request, membership, *args, **kwargs)

        return guarded

    return decorate


def platform_page(
    permission: PlatformPermission,
) -> Callable[[PlatformPage[Rest]], Callable[..., HttpResponseBase]]:
    """404 for people without a role over the installation: these pages are none of theirs."""

    def decorate(page: PlatformPage[Rest]) -> Callable[..., HttpResponseBase]:
        @never_cache
        @login_required
        @wraps(page)
        def guarded(
            request: HttpRequest, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            role = selectors.platform_role(request.user)
            if role is None:
                raise Http404
            require(role, permission)
            return page(request, role, *args, **kwargs)

        return guarded

    return decorate


def require(role: PlatformRole, permission: PlatformPermission) -> None:
    """For what a page that others may open does for some alone."""
    if not role.may(permission):
        raise PermissionDenied


def member_fetch(
    method: str, permission: Permission
) -> Callable[[Fetch[Rest]], Callable[..., Answer]]:
    """The same for what a page's script fetches: refusals are JSON, and nothing redirects."""

    def decorate(fetch: Fetch[Rest]) -> Callable[..., Answer]:
        @never_cache
        @wraps(fetch)
        async def guarded(
            request: HttpRequest, slug: str, *args: Rest.args, **kwargs: Rest.kwargs
        ) -> HttpResponseBase:
            try:
                if request.method != method:
                    raise ApiError(405, "method_not_allowed", f"Use {method} here.")
                membership = await _admit(request, slug, permission)
                return await fetch(request, membership, *args, **kwargs)
            except ApiError as error:
                return error_response(error)

        return guarded

    return decorate


def platform_fetch(
    permission: PlatformPermission,
) -> Callable[[Callable[[HttpRequest], Answer]], Callable[[HttpRequest], Answer]]:
    """The same as `platform_page` for what a page's script gets."""

    def decorate(fetch: Callable[[HttpRequest], Answer]) -> Callable[[HttpRequest], Answer]:
        @never_cache
        @wraps(fetch)
        async def guarded(request: HttpRequest) -> HttpResponseBase:
            try:
                await _admit_to_platform(request, permission)
                return await fetch(request)
            except ApiError as error:
                return error_response(error)

        return guarded

    return decorate


async def _admit_to_platform(request: HttpRequest, permission: PlatformPermission) -> None:
    if request.method not in ("GET", "HEAD"):
        raise ApiError(405, "method_not_allowed", "Use GET here.")
    user = await request.auser()
    if not user.is_authenticated:
        raise ApiError(401, "signed_out", "Your session has ended: sign in again.")
    role = await database.read(selectors.platform_role, user)
    if role is None:
        raise ApiError(404, "unknown_url", "There is nothing at this address.")
    if not role.may(permission):
        raise ApiError(403, "forbidden", "Your role does not allow this.")


async def _admit(request: HttpRequest, slug: str, permission: Permission) -> Membership:
    user = await request.auser()
    if not user.is_authenticated:
        raise ApiError(401, "signed_out", "Your session has ended: sign in again.")
    membership = await database.read(selectors.membership, user, slug)
    if membership is None:
        raise ApiError(404, "unknown_tenant", "There is no such tenant.")
    if not membership.may(permission):
        raise ApiError(403, "forbidden", "Your role does not allow this.")
    if permission is Permission.SPEAK and membership.tenant.suspended_at is not None:
        raise ApiError(403, "tenant_suspended", SUSPENDED)
    return membership
