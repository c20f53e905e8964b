"""Which page about money opens to whom; `matrix.py` has the others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.console.matrix import Row, platform, tenant

NOTHING = "00000000-0000-7000-8000-000000000000"
TOMORROW = f"{datetime.now(UTC).date() + timedelta(days=1)}"
BOOK = {"name": "List", "slug": "list", "currency": "EUR"}
REFERENCE = {"name": "Elsewhere", "per_million": "30"}
CREDIT = {"reason": "given", "amount": "5", "currency": "EUR"}

ROWS = (
    Row("/console/alice/billing", "GET", tenant(403, 403, 200, 200)),
    Row("/console/alice/billing.csv", "GET", tenant(403, 403, 200, 200)),
    Row(f"/console/alice/billing/{NOTHING}.pdf", "GET", tenant(403, 403, 404, 404)),
    Row("/platform/prices", "GET", platform(200, 200)),
    Row("/platform/prices", "POST", platform(403, 302), BOOK),
    Row("/platform/prices/none", "GET", platform(404, 404)),
    Row("/platform/prices/none", "POST", platform(403, 404)),
    Row("/platform/prices/none/default", "POST", platform(403, 404)),
    Row("/platform/costs", "GET", platform(200, 200)),
    Row("/platform/costs/whose", "GET", platform(200, 200)),
    Row("/platform/costs.csv", "GET", platform(200, 200)),
    Row("/platform/costs/tenants.csv", "GET", platform(200, 200)),
    Row("/platform/costs/voices.csv", "GET", platform(200, 200)),
    Row("/platform/costs/settings", "GET", platform(200, 200)),
    Row("/platform/costs/settings/reference", "POST", platform(403, 302), REFERENCE),
    Row("/platform/costs/settings/reference/0/remove", "POST", platform(403, 404)),
    Row("/platform/metering", "GET", platform(200, 200)),
    Row("/platform/metering", "POST", platform(403, 400), {"days": "0"}),
    Row("/platform/metering.csv", "GET", platform(200, 200)),
    Row("/platform/invoices", "GET", platform(200, 200)),
    Row("/platform/invoices.csv", "GET", platform(200, 200)),
    Row(f"/platform/invoices/{NOTHING}", "GET", platform(404, 404)),
    Row(f"/platform/invoices/{NOTHING}", "POST", platform(403, 404)),
    Row(f"/platform/invoices/{NOTHING}.pdf", "GET", platform(404, 404)),
    Row("/platform/sellers/new", "GET", platform(403, 200)),
    Row("/platform/sellers/new", "POST", platform(403, 400)),
    Row("/platform/sellers/0", "GET", platform(403, 404)),
    Row("/platform/sellers/0", "POST", platform(403, 404)),
    Row("/platform/tenants/alice/billing", "GET", platform(200, 200)),
    Row("/platform/tenants/alice/billing/details", "POST", platform(403, 400)),
    Row("/platform/tenants/alice/billing/agreement", "POST", platform(403, 400)),
    Row("/platform/tenants/alice/billing/credit", "POST", platform(403, 302), CREDIT),
)
