"""Pages that a tenant and the installation both have, at the same addresses below each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ttsapp.console import alert_pages, audit_log, view_pages, webhook_pages
from ttsapp.console.places import View, for_members, for_operators
from ttsapp.tenants.models import Permission, PlatformPermission

Admit = Callable[[View], View]


def _webhooks(root: str, admit: Admit) -> list[URLPattern]:
    one = f"{root}/<int:webhook_id>"
    index = require_http_methods(["GET", "HEAD", "POST"])(admit(webhook_pages.index))
    act, resend = require_POST(admit(webhook_pages.act)), require_POST(admit(webhook_pages.resend))
    return [
        path(root, index, name="webhooks"),
        path(f"{root}.csv", require_safe(admit(webhook_pages.index_csv)), name="webhooks_csv"),
        path(one, require_safe(admit(webhook_pages.detail)), name="webhook"),
        path(
            f"{one}.csv", require_safe(admit(webhook_pages.deliveries_csv)), name="deliveries_csv"
        ),
        path(f"{one}/<slug:action>", act, name="webhook_act"),
        path(f"{one}/deliveries/<uuid:delivery_id>/resend", resend, name="resend"),
    ]


def _alerts(root: str, admit: Admit, admit_in_charge: Admit) -> list[URLPattern]:
    index = require_http_methods(["GET", "HEAD", "POST"])(admit(alert_pages.alerts))
    mute = require_POST(admit_in_charge(alert_pages.mute))
    return [
        path(root, index, name="alerts"),
        path(f"{root}.csv", require_safe(admit(alert_pages.changes_csv)), name="alerts_csv"),
        path(f"{root}/<slug:code>/mute", mute, name="mute_alert"),
    ]


def _audit(root: str, admit: Admit) -> list[URLPattern]:
    return [
        path(root, require_safe(admit(audit_log.audit)), name="audit"),
        path(f"{root}.jsonl", require_safe(admit(audit_log.audit_export)), name="audit_export"),
        path(f"{root}.csv", require_safe(admit(audit_log.audit_csv)), name="audit_csv"),
    ]


def _views(root: str, admit: Admit) -> list[URLPattern]:
    save, remove = require_POST(admit(view_pages.save)), require_POST(admit(view_pages.remove))
    return [
        path(f"{root}/of/<slug:page>", save, name="save_view"),
        path(f"{root}/<uuid:view_id>/remove", remove, name="remove_view"),
    ]


of_tenant = [
    *_alerts(
        "<slug:slug>/alerts",
        partial(for_members, Permission.VIEW),
        partial(for_members, Permission.MANAGE_SETTINGS),
    ),
    *_webhooks("<slug:slug>/webhooks", partial(for_members, Permission.MANAGE_WEBHOOKS)),
    *_audit("<slug:slug>/audit", partial(for_members, Permission.VIEW_AUDIT)),
    *_views("<slug:slug>/views", partial(for_members, Permission.VIEW)),
]
of_platform = [
    *_alerts(
        "alerts",
        partial(for_operators, PlatformPermission.VIEW),
        partial(for_operators, PlatformPermission.OPERATE),
    ),
    *_webhooks("webhooks", partial(for_operators, PlatformPermission.OPERATE)),
    *_audit("audit", partial(for_operators, PlatformPermission.VIEW_AUDIT)),
    *_views("views", partial(for_operators, PlatformPermission.VIEW)),
]
