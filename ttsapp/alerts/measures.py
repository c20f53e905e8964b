"""What the rules look at: each measure says what it found, of the installation or of tenants."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db.models import Count, Exists, Min, OuterRef, Q

from billing import money
from billing.budgets import Budget, budget
from billing.credit import prepaid
from billing.credit.prepaid import Account
from billing.prices.selectors import earned
from billing.rollups import selectors as rollups
from billing.upkeep.findings import unresolved
from gpu_engine.proto.engine_pb2 import EngineStatus
from ttsapp import ids
from ttsapp.alerts.models import Delivery, SeenNetwork
from ttsapp.engine import client
from ttsapp.errors import ApiError
from ttsapp.keys.models import ApiKey
from ttsapp.speech import history
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Tenant
from ttsapp.voices.models import Consent

SOON, HOUR, DAY = timedelta(minutes=5), timedelta(hours=1), timedelta(days=1)
# Below these, a share or a ratio says nothing.
FEWEST_REQUESTS, FEWEST_CHARACTERS = 20, 10_000
FAILED_OFTEN = 3
# What a stream waits for before anything is made of it.
QUEUES = ("place", "prefill")
# Of a budget: from here on it is named beside one that is used up further.
FAR_PERCENT = 80
# Of credit that is not used: what is left lasts, and a figure says so where none would alarm.
FOR_LONG_DAYS = 3650.0


@dataclass(frozen=True, slots=True)
class Measured:
    """`value` is None where there is nothing to measure."""

    value: float | None
    text: str
    tenant_id: int | None = None


def first_audio(now: datetime) -> Iterator[Measured]:
    found = history.first_audio_of_all(now - SOON)
    if found is None or found.count < FEWEST_REQUESTS:
        few = f"fewer than {FEWEST_REQUESTS} requests had audio in the last five minutes"
        yield Measured(None, few)
    else:
        yield Measured(found.p95, f"95 % within {found.p95:,} ms over {found.count:,} requests")


def underruns(now: datetime) -> Iterator[Measured]:
    sums = rollups.total(now - HOUR, now, ("requests", "interrupted"))
    if sums["requests"] < FEWEST_REQUESTS:
        yield Measured(None, f"fewer than {FEWEST_REQUESTS} requests in the last hour")
    else:
        share = 100 * sums["interrupted"] / sums["requests"]
        yield Measured(share, f"{share:.1f} % of {sums['requests']:,} requests had a gap")


def engines_away(now: datetime) -> Iterator[Measured]:
    told = async_to_sync(_statuses)()
    gone = sum(isinstance(each, ApiError) or not _serves(each) for each in told)
    yield Measured(gone, f"{gone} of {len(told)} not serving")


def queue(now: datetime) -> Iterator[Measured]:
    told = [each for each in async_to_sync(_statuses)() if isinstance(each, EngineStatus)]
    if not told:
        yield Measured(None, "no engine answers")
    else:
        longest = max(told, key=_queue_ms)
        waiting = sum(status.waiting_first_audio for status in told)
        yield Measured(
            _queue_ms(longest),
            f"up to {_queue_ms(longest):,.0f} ms at {longest.engine_id}; {waiting:,} without audio "
            f"yet, {sum(status.streams for status in told):,} open",
        )


def _queue_ms(status: EngineStatus) -> float:
    """How long nearly all of the last minute's streams stood for a place or their first job, and
    who waits longest by now: where nobody gets a place, the minute has nothing to tell."""
    found = (status.waits[name] for name in QUEUES if name in status.waits)
    past = (wait.p95_ms for wait in found if wait.rows >= FEWEST_REQUESTS)
    return max(float(status.longest_wait_ms), *past, 0.0)


def refusals(now: datetime) -> Iterator[Measured]:
    recent = RequestLog.objects.filter(pk__gte=ids.lowest(now - SOON))
    counts = recent.aggregate(all=Count("pk"), refused=Count("pk", filter=Q(status__in=(429, 503))))
    if counts["all"] < FEWEST_REQUESTS:
        yield Measured(None, f"fewer than {FEWEST_REQUESTS} requests in the last five minutes")
    else:
        share = 100 * counts["refused"] / counts["all"]
        yield Measured(share, f"{counts['refused']:,} of {counts['all']:,} requests")


def findings(now: datetime) -> Iterator[Measured]:
    found = list(unresolved()[:50])
    first = f": {found[0].subject}, {found[0].detail}" if found else ""
    yield Measured(len(found), f"{len(found)} unresolved{first}"[:300])


def disk(now: datetime) -> Iterator[Measured]:
    usage = shutil.disk_usage(settings.DATA)
    share = 100 * usage.used / usage.total
    yield Measured(share, f"{share:.0f} % used, {usage.free / 2**30:,.1f} GiB free")


def budgets(now: datetime) -> Iterator[Measured]:
    """Of each tenant that has some, its own and its keys': the one that is used up furthest counts,
    and the others that are far are named too."""
    limited = Q(hard_monthly_characters__isnull=False) | Q(soft_monthly_characters__isnull=False)
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    found: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)
    by_tenant, by_key = (_charged(month, now, by) for by in ("tenant_id", "key_id"))
    for tenant in Tenant.objects.filter(limited):
        found[tenant.pk].append(_used_up(budget(tenant, by_tenant.get(tenant.pk, 0))))
    keys = ApiKey.objects.filter(limited, revoked_at=None).exclude(expires_at__lte=now)
    for key in keys:
        name = f"key {key.name}: "
        found[key.tenant_id].append(_used_up(budget(key, by_key.get(key.pk, 0)), name))
    for tenant_id, shares in found.items():
        (first, text), *others = sorted(shares, key=lambda each: -each[0])
        far = [text for share, text in others if share >= FAR_PERCENT]
        yield Measured(first, "; ".join([text, *far])[:300], tenant_id)


def _used_up(found: Budget, whose: str = "") -> tuple[float, str]:
    share = found.percent or 0.0
    text = f"{whose}{found.used:,} of {found.most:,} characters this month: {share:.0f} %"
    return share, text


def credit(now: datetime) -> Iterator[Measured]:
    """How long it lasts if as much is used up a day as in the last seven, or as today."""
    tomorrow = now.date() + DAY
    accounts = list(prepaid.accounts(now))
    for currency in {account.currency for account in accounts}:
        week, today = (earned(tomorrow - days * DAY, tomorrow, currency) for days in (7, 1))
        for account in accounts:
            if account.currency == currency:
                tenant_id = account.tenant_id
                yield _lasts(account, max(week.get(tenant_id, 0) / 7, today.get(tenant_id, 0)))


def _lasts(account: Account, daily: float) -> Measured:
    left = account.left
    text = f"{money.text(max(0, left), account.currency)} left"
    if left <= 0:
        return Measured(0, f"{text}: requests to speak are refused", account.tenant_id)
    if not daily:
        return Measured(FOR_LONG_DAYS, f"{text}, and none used lately", account.tenant_id)
    return Measured(left / daily, f"{text}, for {left / daily:,.1f} days", account.tenant_id)


def spend(now: datetime) -> Iterator[Measured]:
    hour = now.replace(minute=0, second=0, microsecond=0) - HOUR
    starts = (hour, hour - timedelta(days=7))
    lately, usual = (_charged(start, start + HOUR) for start in starts)
    for tenant_id, characters in lately.items():
        before = max(usual.get(tenant_id, 0), FEWEST_CHARACTERS)
        text = f"{characters:,} from {hour:%H:%M} UTC on; a week ago {usual.get(tenant_id, 0):,}"
        yield Measured(characters / before, text, tenant_id)


def new_networks(now: datetime) -> Iterator[Measured]:
    before = SeenNetwork.objects.filter(key=OuterRef("key"), seen_at__lt=OuterRef("seen_at"))
    new = SeenNetwork.objects.filter(Exists(before), seen_at__gte=now - DAY)
    counts: dict[int, list[str]] = {}
    for row in new.select_related("key"):
        counts.setdefault(row.key.tenant_id, []).append(f"{row.key.name} from {row.network}")
    for tenant_id, found in counts.items():
        yield Measured(len(found), "; ".join(found)[:300], tenant_id)


def failing_webhooks(now: datetime) -> Iterator[Measured]:
    failed = Delivery.objects.filter(delivered_at=None, attempts__gte=FAILED_OFTEN)
    rows = failed.values("webhook__tenant").annotate(count=Count("pk"))
    for row in rows.exclude(webhook__tenant=None):
        failing = "delivery does" if row["count"] == 1 else "deliveries do"
        text = f"{row['count']:,} {failing} not arrive"
        yield Measured(row["count"], text, row["webhook__tenant"])


def consents(now: datetime) -> Iterator[Measured]:
    ending = Consent.objects.filter(
        expires_at__gt=now, withdrawn_at=None, deleted_at=None, voices__isnull=False
    )
    for row in ending.values("tenant").annotate(first=Min("expires_at")):
        days = (row["first"] - now) / DAY
        yield Measured(days, f"the next ends on {row['first']:%Y-%m-%d}", row["tenant"])


def _charged(since: datetime, until: datetime, by: str = "tenant_id") -> dict[int, int]:
    rows = rollups.sums(since, until, ("billed_characters",), (by,))
    return {row[by]: row["billed_characters"] for row in rows}


async def _statuses() -> list[EngineStatus | ApiError]:
    try:
        return await client.client().statuses()
    finally:
        # A task's loop ends with it, and so must the channels.
        await client.close()


def _serves(status: EngineStatus) -> bool:
    return status.state != EngineStatus.STATE_DOWN
