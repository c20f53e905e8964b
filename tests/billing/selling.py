"""Prices, customers and speech in past months, for tests of what is sold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from billing.invoices.models import BillingDetails, Seller
from billing.invoices.parties import save_details, save_seller
from billing.prices.models import PriceBook
from billing.prices.rates import ANY, Rate, Tier, VoiceKind
from billing.prices.selectors import kept
from billing.prices.services import add_version, create_book
from tests.billing.used import use
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import Tenant

EUR = 1_000_000
MAY, JUNE, JULY = date(2026, 5, 1), date(2026, 6, 1), date(2026, 7, 1)
AFTER = datetime(2026, 6, 20, tzinfo=UTC)


@pytest.fixture
def fresh_prices() -> Iterator[None]:
    """No price list is remembered from one test to the next."""
    kept.forget()
    yield
    kept.forget()


def flat(per_million: int, model: str = ANY, kind: str = ANY) -> Rate:
    return Rate(model, kind, (Tier(0, per_million * EUR),))


def price_book(
    slug: str = "list", per_million: int = 10, minimum: int = 0, currency: str = "EUR"
) -> PriceBook:
    book = create_book(SYSTEM, slug.title(), slug, currency, is_default=slug == "list")
    add_version(SYSTEM, book, date(2026, 1, 1), [flat(per_million)], minimum)
    kept.forget()
    return book


def seller(prefix: str = "PAR-") -> Seller:
    return save_seller(
        SYSTEM, Seller(), name="Parlance Ltd", address="1 Quay\nCork", prefix=prefix, note="Thanks."
    )


def customer(tenant: Tenant, by: Seller, month: date = MAY) -> BillingDetails:
    return save_details(
        SYSTEM, tenant, seller=by, name=tenant.name, tax_number="IE1", next_month=month
    )


def speak(
    tenant: Tenant,
    characters: int,
    at: datetime = datetime(2026, 5, 10, tzinfo=UTC),
    model: str = "tiny",
    voice: str = "anna",
    kind: VoiceKind = VoiceKind.PRESET,
    ms: float = 100.0,
) -> None:
    """One request that was spoken then, to its end."""
    about = {"model": model, "voice": voice, "voice_kind": kind}
    use(tenant, at, characters, audio_ms=6000, frames=75, text_tokens=30, talker_ms=ms, **about)
