"""A thousand tenants with a year behind them: sums of a hundred million requests, the log and the
events of the last weeks, prices, invoices, people, alerts, and the hours of the engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from time import monotonic
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.db import connection, transaction

from billing.costs import services as costs
from billing.costs.models import EngineHour
from billing.invoices.models import Document, Seller
from billing.invoices.parties import save_details, save_seller
from billing.invoices.tasks import issue_all
from billing.prices.rates import ANY, Rate, Tier
from billing.prices.services import add_version, create_book
from ttsapp.alerts import evaluation, webhooks
from ttsapp.audit.services import SYSTEM
from ttsapp.console.bench import log, sums
from ttsapp.console.bench.pages import Known
from ttsapp.console.live import kept
from ttsapp.keys.models import ApiKey
from ttsapp.keys.services import create_key
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Role, Tenant
from ttsapp.tenants.services import add_member, create_tenant

ENGINES, ENGINE_DAYS = 8, 365
PEOPLE, INVOICED_EVERY = 20, 10
SLUG = "list"
# They need an engine that makes them.
VOICES = frozenset(("voice", "delete_voice", "consent", "withdraw_consent", "delete_consent"))


@dataclass(frozen=True, slots=True)
class Filled:
    """`session`: of a person who may open everything. `requests`: that the sums stand for;
    `rows`: by table. `filtered`: lists as they are searched."""

    session: str
    requests: int
    rows: dict[str, int]
    known: Known
    filtered: list[str]


def fill(tenants: int) -> Filled:
    now = datetime.now(UTC)
    _step("tenants and keys", lambda: _tenants(tenants))
    requests = _step("a year's sums", lambda: sums.fill(tenants, now))
    busy = Tenant.objects.order_by("pk")[0]
    _step("the request log", lambda: log.fill(busy, now))
    _step("prices", lambda: _price(now.date()))
    _step("invoices", lambda: issue_all(now))
    _step("sales", sums.sell)
    _step("engine hours", lambda: _engines(now))
    owner = _step("people", lambda: _people(busy))
    webhook = webhooks.create(SYSTEM, busy, "https://hooks.example.com/")
    place = webhooks.create(SYSTEM, None, "https://hooks.example.com/")
    _step("alerts", lambda: evaluation.evaluate(now))
    _step("hours", lambda: kept.note_hours(now))
    _step("statistics", _analyze)
    return _filled(busy, owner, requests, {"console": webhook.pk, "platform": place.pk}, now)


def _step(name: str, act: Callable[[], Any]) -> Any:
    """In one transaction: a thousand would each wait for the disk."""
    began = monotonic()
    with transaction.atomic():
        made = act()
    print(f"filled {name}: {monotonic() - began:.0f} s", flush=True)
    return made


def _tenants(count: int) -> None:
    for number in range(count):
        tenant = create_tenant(SYSTEM, f"Tenant {number}", f"tenant-{number}")
        create_key(SYSTEM, tenant, "its key")


def _price(today: date) -> None:
    """One price for all; every tenth is to be billed from some months ago on."""
    book = create_book(SYSTEM, "List", SLUG, settings.CURRENCY, is_default=True)
    rate = Rate(ANY, ANY, (Tier(0, sums.PER_MILLION),))
    add_version(SYSTEM, book, date(2020, 1, 1), [rate])
    seller = save_seller(
        SYSTEM, Seller(), name="Parlance Ltd", address="1 Quay", prefix="PAR-", note=""
    )
    first = (today.replace(day=1) - timedelta(days=75)).replace(day=1)
    for tenant in Tenant.objects.order_by("pk")[::INVOICED_EVERY]:
        save_details(
            SYSTEM, tenant, seller=seller, name=tenant.name, tax_number="", next_month=first
        )


def _engines(now: datetime) -> None:
    """Each up at all hours, and at work for a third of them."""
    engine_class = costs.add_class(SYSTEM, "NVIDIA H200")
    costs.price_hours(SYSTEM, engine_class, date(2020, 1, 1), 4_290_000)
    hour = now.replace(minute=0, second=0, microsecond=0)
    EngineHour.objects.bulk_create(
        EngineHour(
            engine_id=f"engine-{number}",
            engine_class=engine_class,
            hour=hour - timedelta(hours=back),
            up_seconds=3600,
            busy_seconds=1200,
        )
        for number in range(ENGINES)
        for back in range(ENGINE_DAYS * 24)
    )


def _people(tenant: Tenant) -> User:
    """An owner who may do everything, and the others of the tenant's."""
    owner = User.objects.create_superuser("owner", password=None)
    add_member(SYSTEM, tenant, owner, Role.OWNER)
    for number in range(PEOPLE):
        add_member(SYSTEM, tenant, User.objects.create_user(f"person-{number}"), Role.VIEWER)
    return owner


def _analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _filled(
    tenant: Tenant, owner: User, requests: int, webhook: dict[str, int], now: datetime
) -> Filled:
    key = ApiKey.objects.get(tenant=tenant)
    document = Document.objects.filter(tenant=tenant)[0]
    one = RequestLog.objects.filter(tenant=tenant, finish_reason="stop")[0]
    known = Known(
        arguments={"slug": tenant.slug, "public_id": key.public_id, "code": "disk"},
        arguments_of={
            "console:request": {"wanted": one.pk},
            "console:webhook": {"webhook_id": webhook["console"]},
            "console:member": {"member_id": tenant.memberships.latest("pk").pk},
            "platform:webhook": {"webhook_id": webhook["platform"]},
            "platform:price_book": {"slug": SLUG},
            "platform:invoice": {"wanted": document.pk},
            "platform:seller": {"seller_id": Seller.objects.get().pk},
        },
        missing=VOICES,
    )
    return Filled(_signed_in(owner), requests, _rows(), known, _filtered(tenant, key, now))


def _filtered(tenant: Tenant, key: ApiKey, now: datetime) -> list[str]:
    root, month = f"/console/{tenant.slug}", now - timedelta(days=28)
    return [
        f"{root}/requests?ended=refused",
        f"{root}/requests?ended=error&since={month:%Y-%m-%d}",
        f"{root}/requests?code=unknown_voice",
        f"{root}/requests?key={key.public_id}",
        f"{root}/usage?since={now - timedelta(days=364):%Y-%m-%d}",
        "/platform/tenants?q=99",
    ]


def _signed_in(user: User) -> str:
    """The key of a session that the web process takes for the person's."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def _rows() -> dict[str, int]:
    """As Postgres estimates them right after ANALYZE; the greatest tables."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, reltuples::bigint FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = 'public'::regnamespace AND reltuples >= 500 ORDER BY 2 DESC"
        )
        return dict(cursor.fetchall())
