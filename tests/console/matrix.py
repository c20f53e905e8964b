"""Which page opens to whom: path, method and form, then a status for each of CALLERS."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    path: str
    method: str
    statuses: tuple[int, ...]
    fields: dict[str, str] = field(default_factory=dict)


WEBHOOK = {"url": "https://hooks.example.com/"}
ENGINE_ACT = {"voice": "anna", "reason": "Because."}
NO_VIEW = "01900000-0000-7000-8000-000000000000"
VIEW = {"name": "Failed", "query": "ended=error&actor=ann", "is_shared": "on"}
DELIVERY = "deliveries/01900000-0000-7000-8000-000000000000/resend"


def platform(auditor: int, operator: int) -> tuple[int, ...]:
    return (302, 404, 404, 404, 404, 404, auditor, operator)


def own(status: int) -> tuple[int, ...]:
    """Pages of one's own account, alike for everybody."""
    return (302, *(status for _ in range(7)))


# Behind the password again: 302 there. Without a second factor there is nothing to see or remove.
ACCOUNT = (
    Row("/account", "GET", own(200)),
    Row("/account/password", "GET", own(200)),
    Row("/account/confirm", "GET", own(200)),
    Row("/account/passkeys", "GET", own(200)),
    *(
        Row(f"/account/{page}", "GET", own(302))
        for page in ("app/add", "codes/new", "passkeys/add", "passkeys/0/remove")
    ),
    *(
        Row(f"/account/{page}", "GET", own(302))
        for page in ("confirm/code", "confirm/passkey", "sign-in/code", "sign-in/passkey")
    ),
    Row("/account/invitation/forged", "GET", (404,) * 8),
    *(Row(f"/account/{page}", "GET", own(404)) for page in ("app/remove", "codes", "codes/file")),
)


def tenant(viewer: int, developer: int, admin: int, owner: int) -> tuple[int, ...]:
    return (302, 404, viewer, developer, admin, owner, 404, 404)


# Nobody and nothing has the number 0.
TENANT = (
    Row("/console/alice/members", "GET", tenant(200, 200, 200, 200)),
    Row(
        "/console/alice/members",
        "POST",
        tenant(403, 403, 302, 302),
        {"label": "Dora", "role": "viewer"},
    ),
    Row("/console/alice/members/0", "GET", tenant(403, 403, 404, 404)),
    Row("/console/alice/members/0", "POST", tenant(403, 403, 404, 404), {"role": "owner"}),
    Row("/console/alice/members/0/remove", "POST", tenant(403, 403, 404, 404)),
    Row("/console/alice/alerts", "GET", tenant(200, 200, 200, 200)),
    Row(
        "/console/alice/alerts",
        "POST",
        tenant(403, 403, 302, 302),
        {"addresses": "a@example.com"},
    ),
    Row("/console/alice/alerts/disk/mute", "POST", tenant(403, 403, 404, 404)),
    Row("/console/alice/webhooks", "GET", tenant(403, 200, 200, 200)),
    Row("/console/alice/webhooks", "POST", tenant(403, 302, 302, 302), WEBHOOK),
    Row("/console/alice/webhooks/0", "GET", tenant(403, 404, 404, 404)),
    Row("/console/alice/webhooks/0/test", "POST", tenant(403, 404, 404, 404)),
    Row(f"/console/alice/webhooks/0/{DELIVERY}", "POST", tenant(403, 404, 404, 404)),
    *(
        Row(f"/console/alice/{name}.csv", "GET", tenant(200, 200, 200, 200))
        for name in ("requests", "keys", "members", "voices", "consents", "alerts")
    ),
    Row("/console/alice/webhooks.csv", "GET", tenant(403, 200, 200, 200)),
    Row("/console/alice/webhooks/0.csv", "GET", tenant(403, 404, 404, 404)),
    Row("/console/alice/audit.csv", "GET", tenant(403, 403, 200, 200)),
    Row("/console/alice/views/of/requests", "POST", tenant(302, 302, 302, 302), VIEW),
    Row("/console/alice/views/of/audit", "POST", tenant(404, 404, 302, 302), VIEW),
    Row("/console/alice/views/of/none", "POST", tenant(404, 404, 404, 404), VIEW),
    Row(f"/console/alice/views/{NO_VIEW}/remove", "POST", tenant(404, 404, 404, 404)),
    Row(f"/console/alice/requests/{NO_VIEW}/text", "POST", tenant(403, 404, 404, 404)),
    Row(f"/console/alice/requests/{NO_VIEW}/audio", "GET", tenant(403, 404, 404, 404)),
    Row("/console/alice/keys/unused", "GET", tenant(403, 200, 200, 200)),
    Row("/console/alice/keys/unused", "POST", tenant(403, 302, 302, 302), {"days": "90"}),
    Row("/console/alice/settings", "GET", tenant(403, 403, 200, 200)),
    Row("/console/alice/settings", "POST", tenant(403, 403, 302, 302), {"name": "Alicia"}),
    Row("/console/alice/audit", "GET", tenant(403, 403, 200, 200)),
    Row("/console/alice/audit.jsonl", "GET", tenant(403, 403, 200, 200)),
    Row("/console/alice/invitations/0/withdraw", "POST", tenant(403, 403, 404, 404)),
)
PLATFORM = (
    Row("/platform/alerts", "GET", platform(200, 200)),
    Row("/platform/alerts", "POST", platform(403, 302), {"addresses": "a@example.com"}),
    Row("/platform/alerts/disk/mute", "POST", platform(403, 404)),
    Row("/platform/alerts/disk", "GET", platform(403, 200)),
    Row("/platform/alerts/disk", "POST", platform(403, 302), {"warning": "80"}),
    Row("/platform/webhooks", "GET", platform(403, 200)),
    Row("/platform/webhooks", "POST", platform(403, 302), WEBHOOK),
    Row("/platform/webhooks/0", "GET", platform(403, 404)),
    Row("/platform/webhooks/0/test", "POST", platform(403, 404)),
    Row(f"/platform/webhooks/0/{DELIVERY}", "POST", platform(403, 404)),
    Row("/platform/audit", "GET", platform(200, 200)),
    *(
        Row(f"/platform/{name}.csv", "GET", platform(200, 200))
        for name in ("audit", "tenants", "prices", "alerts", "settings")
    ),
    Row("/platform/webhooks.csv", "GET", platform(403, 200)),
    Row("/platform/webhooks/0.csv", "GET", platform(403, 404)),
    Row("/platform/views/of/audit", "POST", platform(302, 302), VIEW),
    Row(f"/platform/views/{NO_VIEW}/remove", "POST", platform(404, 404)),
    Row("/platform/audit.jsonl", "GET", platform(200, 200)),
    Row("/platform/settings", "GET", platform(200, 200)),
    Row(
        "/platform/settings",
        "POST",
        platform(403, 302),
        {"username": "alice", "role": "auditor"},
    ),
    Row("/platform", "GET", own(302)),
    Row("/platform/", "GET", own(302)),
    Row("/platform/overview", "GET", platform(200, 200)),
    Row("/platform/engines", "GET", platform(200, 200)),
    # No engine runs here: who may act is told which there are, and nothing is audited.
    *(
        Row(f"/platform/engines/9/{act}", "POST", platform(403, 400), ENGINE_ACT)
        for act in ("drain", "undrain", "pin", "unpin", "unload", "trace")
    ),
    Row("/platform/engines/1/reset", "POST", platform(403, 404), ENGINE_ACT),
    Row("/platform/tenants", "GET", platform(200, 200)),
    Row("/platform/tenants", "POST", platform(403, 302), {"name": "Zoe", "slug": "zoe"}),
    Row("/platform/tenants/alice", "GET", platform(200, 200)),
    Row("/platform/tenants/alice", "POST", platform(403, 302), {"name": "Alicia"}),
    Row("/platform/tenants/alice/suspend", "POST", platform(403, 302), {"reason": "Unpaid."}),
    Row("/platform/tenants/alice/invite", "POST", platform(403, 302), {"label": "Zoe"}),
    Row("/platform/tenants/alice/restore", "POST", platform(403, 302)),
)
# What scripts get, tested over a real server.
FETCHED = ("/platform/engines/now",)
ROWS = ACCOUNT + TENANT + PLATFORM
