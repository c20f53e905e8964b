"""The entries of the navigation, in order: a new page is a line here and one in `urls.py`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from django.urls import reverse

from ttsapp.tenants.models import Permission, PlatformPermission


@dataclass(frozen=True, slots=True)
class Entry:
    """`page`: its route and template; `below`: pages that are reached through it."""

    page: str
    label: str
    permission: Enum
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """`current`: a value of aria-current, empty on other pages."""

    url: str
    label: str
    current: str


TENANT = (
    Entry("overview", "Overview", Permission.VIEW),
    Entry("playground", "Playground", Permission.SPEAK),
    Entry("voices", "Voices", Permission.VIEW, below=("pronunciations", "consents")),
    Entry("requests", "Requests", Permission.VIEW, below=("request",)),
    Entry("keys", "Keys", Permission.VIEW),
    Entry("usage", "Usage", Permission.VIEW),
    Entry("billing", "Billing", Permission.VIEW_BILLING),
    Entry("members", "Members", Permission.VIEW),
    Entry("alerts", "Alerts", Permission.VIEW),
    Entry("webhooks", "Webhooks", Permission.MANAGE_WEBHOOKS),
    Entry("audit", "Audit", Permission.VIEW_AUDIT),
    Entry("settings", "Settings", Permission.MANAGE_SETTINGS),
    Entry("start", "Quick start", Permission.VIEW),
)

PLATFORM = (
    Entry("overview", "Overview", PlatformPermission.VIEW),
    Entry("engines", "Engines", PlatformPermission.VIEW),
    Entry("tenants", "Tenants", PlatformPermission.VIEW, below=("tenant",)),
    Entry("price_books", "Price books", PlatformPermission.VIEW),
    Entry("costs", "Costs and margin", PlatformPermission.VIEW),
    Entry("metering", "Metering check", PlatformPermission.VIEW),
    Entry("invoices", "Invoices", PlatformPermission.VIEW),
    Entry("alerts", "Alerts", PlatformPermission.VIEW, below=("webhooks",)),
    Entry("audit", "Audit", PlatformPermission.VIEW_AUDIT),
    Entry("settings", "Settings", PlatformPermission.VIEW),
)


def may_open(is_platform: bool, page: str, may: Container[Enum]) -> bool:
    """Whether a page of the navigation, or one below it, is theirs."""
    entries = PLATFORM if is_platform else TENANT
    found = (entry for entry in entries if page == entry.page or page in entry.below)
    return any(entry.permission in may for entry in found)


def of_tenant(slug: str, page: str, may: Container[Enum]) -> Sequence[Link]:
    return tuple(_links("console", TENANT, page, may, (slug,)))


def of_platform(page: str, may: Container[Enum]) -> Sequence[Link]:
    return tuple(_links("platform", PLATFORM, page, may, ()))


def _links(
    routes: str, entries: Sequence[Entry], page: str, may: Container[Enum], args: tuple[str, ...]
) -> Iterator[Link]:
    for entry in entries:
        if entry.permission in may:
            current = "page" if entry.page == page else "true" if page in entry.below else ""
            yield Link(reverse(f"{routes}:{entry.page}", args=args), entry.label, current)
