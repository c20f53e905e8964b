"""Which page opens to whom: path, method and form, then a status for each of CALLERS."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    path: str
    method: str
    statuses: tuple[int, ...]
    fields: dict[str, str] = field(default_factory=dict)


def platform(auditor: int, operator: int) -> tuple[int, ...]:
    return (302, 404, 404, 404, 404, 404, auditor, operator)


TENANT: tuple[Row, ...] = ()
PLATFORM = (
    Row("/platform/tenants", "GET", platform(200, 200)),
    Row("/platform/tenants", "POST", platform(403, 302), {"name": "Zoe", "slug": "zoe"}),
    Row("/platform/tenants/alice", "GET", platform(200, 200)),
    Row("/platform/tenants/alice", "POST", platform(403, 302), {"name": "Alicia"}),
    Row("/platform/tenants/alice/suspend", "POST", platform(403, 302), {"reason": "Unpaid."}),
    Row("/platform/tenants/alice/restore", "POST", platform(403, 302)),
)
ROWS = TENANT + PLATFORM
