"""A year of a hundred million requests as its sums have it: generated, not spoken."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from billing.invoices.models import BillingDetails, Seller
from billing.invoices.parties import save_seller
from billing.prices import day_sales, uses
from billing.prices.rates import ANY, Rate, Tier
from billing.prices.selectors import kept
from billing.prices.services import add_version, create_book
from billing.rollups.measures import MEASURES
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import Tenant

REQUESTS = 100_000_000
DAYS = 365
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
# Every tenth tenant is busy all day, the others for eight hours of it; in each hour every key
# speaks with every voice.
BUSY_EVERY, BUSY_HOURS, VOICES = 10, 8, 4
EURO = 1_000_000

_EACH = {
    **{"requests": 1, "characters": 120, "billed_characters": 118, "audio_ms": 7800},
    **{"frames": 98, "text_tokens": 40, "first_audio_ms": 90, "first_audios": 1},
    **{"talker_us": 61_250, "predictor_us": 112_500, "codec_us": 30_125},
}
_COLUMNS = ("id", "grain", "start", "tenant_id", "key_id", "model", "voice", "voice_kind")
_PLACES = f"""
  FROM keys_apikey key
  CROSS JOIN generate_series(1, {VOICES}) voice
  CROSS JOIN generate_series(%(begin)s, %(end)s - interval '1 hour', interval '1 hour') hour
  WHERE key.tenant_id %% {BUSY_EVERY} = 0
     OR extract(hour FROM hour AT TIME ZONE 'UTC') < {BUSY_HOURS}"""
# Some hours have more than others; what is left of the whole is one more in the first of them.
_UNEVEN = "(extract(day FROM hour)::int + voice) %% 3"
_COUNT = f"SELECT count(*), sum({_UNEVEN}) {_PLACES}"
_INSERT = f"INSERT INTO billing_rollup ({', '.join((*_COLUMNS, *MEASURES))}) SELECT"
_HOURS = f"""{_INSERT}
    gen_random_uuid(), 'hour', hour, tenant_id, key_id, 'parlance-tiny', 'voice-' || voice,
    'preset', {", ".join(f"{_EACH.get(name, 0)} * requests" for name in MEASURES)}
  FROM (SELECT hour, key.tenant_id, key.id key_id, voice, %(least)s + {_UNEVEN}
          + (row_number() OVER (ORDER BY hour, key.id, voice) <= %(left)s)::int requests {_PLACES}
        ORDER BY hour, key.id, voice) place"""
_DAYS = f"""{_INSERT}
    gen_random_uuid(), 'day', date_trunc('day', start, 'UTC'), tenant_id, key_id, model, voice,
    voice_kind, {", ".join(f"sum({name})" for name in MEASURES)}
  FROM billing_rollup WHERE grain = 'hour' AND start < %(end)s GROUP BY 3, 4, 5, 6, 7, 8"""
# Beside it there is what the load left today.
_FOUND = """SELECT grain, count(*), sum(requests)
  FROM billing_rollup WHERE start < %(end)s GROUP BY 1"""


@dataclass(frozen=True, slots=True)
class Year:
    """What was generated: `requests` in all, as so many rows. None of their events exists."""

    requests: int
    hours: int
    days: int


def generate() -> Year:
    """The sums of a year in which every key of the installation speaks, ordered by time as a year
    of use leaves them; and, from these, what each day was sold for."""
    end = midnight()
    values: dict[str, Any] = {"begin": end - DAYS * DAY, "end": end}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, values)
        rows, uneven = (int(number) for number in cursor.fetchone())
        values["least"], values["left"] = divmod(REQUESTS - uneven, rows)
        cursor.execute(_HOURS, values)
        cursor.execute(_DAYS, values)
        cursor.execute("VACUUM ANALYZE billing_rollup")
        cursor.execute(_FOUND, values)
        found = {grain: (count, int(requests)) for grain, count, requests in cursor.fetchall()}
    assert found["hour"][1] == found["day"][1]
    _sell(end.date())
    return Year(found["day"][1], found["hour"][0], found["day"][0])


def _sell(until: date) -> None:
    """By one book for all, who are on prepaid credit, with nothing invoiced for two months."""
    book = create_book(SYSTEM, "List", "list", settings.CURRENCY, is_default=True)
    tiers = (Tier(0, 10 * EURO), Tier(10_000_000, 8 * EURO))
    add_version(SYSTEM, book, until - DAYS * DAY, [Rate(ANY, ANY, tiers)], 20)
    kept.forget()
    seller = save_seller(SYSTEM, Seller(), name="Seller", prefix="S-")
    open_since = (until.replace(day=1) - DAY).replace(day=1)
    # As if all that is older had been invoiced: `save_details` would have each month accounted for.
    BillingDetails.objects.bulk_create(
        BillingDetails(
            tenant=tenant,
            seller=seller,
            name=tenant.name,
            next_month=open_since,
            is_prepaid=True,
        )
        for tenant in Tenant.objects.all()
    )
    day_sales.add_up(uses.months(until - DAYS * DAY, until))


def midnight() -> datetime:
    return timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
