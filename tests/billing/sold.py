"""Some months of sales and an engine's hours, for pages to be looked at."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from billing.costs import services as costs
from billing.costs.models import EngineClass
from billing.costs.uptime import Beat
from billing.credit.models import Reason
from billing.credit.services import book
from billing.invoices.tasks import issue_all
from billing.prices.day_sales import add_up
from tests.billing.selling import EUR, customer, price_book, seller, speak
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import Tenant

MONTHS = 3
SPEED = 630


def months(tenant: Tenant) -> None:
    """The same every time but for the clock."""
    chance, now = random.Random(11), datetime.now(UTC)
    month = now.date().replace(day=1)
    first = _months_before(month, MONTHS)
    price_book(per_million=15, currency="USD")
    customer(tenant, seller(), first)
    book(SYSTEM, tenant, Reason.PAID, 20 * EUR, "USD", "Transfer")
    day = datetime.combine(first, time(9), UTC)
    # Not the last days: a page of hours would show one of these and nothing else.
    while day < now - timedelta(days=2):
        speak(tenant, int(chance.lognormvariate(16, 0.3)), day)
        day += timedelta(days=1)
    _run(chance, now)
    issue_all(now)
    add_up([month, _months_before(month, 1)])


def _run(chance: random.Random, now: datetime) -> None:
    """An engine that has been up for a month."""
    at, up, busy = now - timedelta(days=30), 0.0, 0.0
    while at < now:
        at, up = at + timedelta(hours=1), up + 3600
        busy += 3600 * (0.3 if 7 < at.hour < 20 else 0.05) * chance.uniform(0.5, 1.5)
        costs.note_heartbeats([costs.Heard("engine-01", "NVIDIA H200", Beat(at, up, busy))])
    engine_class = EngineClass.objects.get(slug="nvidia-h200")
    costs.price_hours(SYSTEM, engine_class, date(2026, 1, 1), 4_290_000)
    costs.note_capacity(SYSTEM, engine_class, Decimal(SPEED), now, "make bench-capacity")
    costs.set_reference(SYSTEM, "A hosted service", 30 * EUR, "made up for this picture")


def _months_before(month: date, count: int) -> date:
    for _ in range(count):
        month = (month - timedelta(days=1)).replace(day=1)
    return month
