"""Changing prices: by new versions, which begin on days to come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from django.db import transaction

from billing.invoices.models import Document
from billing.prices.models import Agreement, PriceBook, PriceRate, PriceVersion
from billing.prices.rates import ANY, Rate
from billing.prices.selectors import kept
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import invalid
from ttsapp.tenants.models import Tenant

MOST_RATES = 100


@transaction.atomic
def create_book(
    actor: Actor, name: str, slug: str, currency: str, *, is_default: bool = False
) -> PriceBook:
    """Without prices until it has a version. Raises ApiError."""
    if PriceBook.objects.filter(slug=slug).exists():
        raise invalid("Another price book has this name: choose another.", "slug")
    book = PriceBook.objects.create(name=name, slug=slug, currency=currency)
    record(actor, Action.PRICE_BOOK_CREATED, None, slug, name=name, currency=currency)
    if is_default:
        make_default(actor, book)
    return book


@transaction.atomic
def make_default(actor: Actor, book: PriceBook) -> None:
    """From now on tenants without an agreement pay by it."""
    locked = PriceBook.objects.select_for_update().order_by("pk")
    before = next((each.slug for each in locked if each.is_default), None)
    PriceBook.objects.filter(is_default=True).update(is_default=False)
    PriceBook.objects.filter(pk=book.pk).update(is_default=True)
    changes = {"default": (before, book.slug)}
    record(actor, Action.PRICE_BOOK_MADE_DEFAULT, None, book.slug, changes=changes)
    transaction.on_commit(kept.forget)


@transaction.atomic
def add_version(
    actor: Actor,
    book: PriceBook,
    valid_from: date,
    rates: Sequence[Rate],
    minimum_characters: int = 0,
    note: str = "",
) -> PriceVersion:
    """A version of the same day as the last one's takes its place. Raises ApiError."""
    last = PriceBook.objects.select_for_update().get(pk=book.pk).versions.last()
    _check_begin(last, valid_from)
    _check_rates(rates)
    version = PriceVersion.objects.create(
        book=book,
        number=last.number + 1 if last else 1,
        valid_from=valid_from,
        minimum_characters=minimum_characters,
        note=note,
    )
    PriceRate.objects.bulk_create(_rows(version, rates))
    record(
        actor,
        Action.PRICES_CHANGED,
        None,
        str(version),
        reason=note,
        valid_from=valid_from.isoformat(),
        minimum_characters=minimum_characters,
    )
    transaction.on_commit(kept.forget)
    return version


@transaction.atomic
def agree(actor: Actor, tenant: Tenant, book: PriceBook, from_month: date) -> Agreement:
    """The tenant pays by this book from that month on. Raises ApiError."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    _check_month(tenant, from_month)
    agreement, _ = Agreement.objects.update_or_create(
        tenant=tenant, from_month=from_month, defaults={"book": book}
    )
    month = f"{from_month:%Y-%m}"
    record(actor, Action.PRICES_AGREED, tenant, book.slug, from_month=month)
    transaction.on_commit(kept.forget)
    return agreement


def _check_begin(last: PriceVersion | None, valid_from: date) -> None:
    if last is None:
        return
    earliest = max(last.valid_from, _today() + timedelta(days=1))
    if valid_from < earliest:
        raise invalid(
            f"Prices of days that have begun stay: begin on {earliest} or later.", "valid_from"
        )


def _check_rates(rates: Sequence[Rate]) -> None:
    if len({rate.key for rate in rates}) != len(rates):
        raise invalid("A model and kind of voice may have one rate.", "rates")
    if (ANY, ANY) not in {rate.key for rate in rates}:
        raise invalid("One rate must be for any model and any kind of voice.", "rates")
    if sum(len(rate.tiers) for rate in rates) > MOST_RATES:
        raise invalid(f"At most {MOST_RATES} tiers in all.", "rates")
    for rate in rates:
        starts = [tier.above for tier in rate.tiers]
        if starts[:1] != [0] or any(low >= high for low, high in pairwise(starts)):
            raise invalid(
                "A rate begins at 0 characters, and each of its tiers above the last.", "rates"
            )


def _check_month(tenant: Tenant, month: date) -> None:
    if month.day != 1:
        raise invalid("Agreements begin on the first of a month.", "from_month")
    if Document.objects.filter(tenant=tenant, month__gte=month).exists():
        raise invalid("That month is invoiced already: choose a later one.", "from_month")


def _rows(version: PriceVersion, rates: Sequence[Rate]) -> list[PriceRate]:
    return [
        PriceRate(
            version=version,
            model=rate.model,
            voice_kind=rate.voice_kind,
            above=tier.above,
            per_million_micros=tier.per_million,
        )
        for rate in rates
        for tier in rate.tiers
    ]


def _today() -> date:
    return datetime.now(UTC).date()
