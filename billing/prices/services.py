"""Changing prices: by new versions, which begin on days to come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from django.db import transaction

from billing.invoices.models import Document
from billing.models import Grain, Rollup
from billing.prices.models import Agreement, DefaultBook, PriceBook, PriceRate, PriceVersion
from billing.prices.rates import ANY, Rate
from billing.prices.selectors import kept
from billing.prices.uses import midnight, next_month
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import invalid
from ttsapp.tenants.models import Tenant

MOST_RATES = 100
# The first default book holds for whatever was spoken before there were prices.
ALWAYS = date(2000, 1, 1)


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
    """Tenants without an agreement pay by it: from next month on, as prices of days that have
    begun stay, and for all time where there was no default with a price. Raises ApiError 400 for a
    book without prices in place of one that has some: speech would be free."""
    list(PriceBook.objects.select_for_update().order_by("pk"))
    before = DefaultBook.objects.select_related("book").last()
    if not DefaultBook.objects.filter(book__versions__isnull=False).exists():
        DefaultBook.objects.all().delete()
        month = ALWAYS
    elif book.versions.exists():
        month = next_month(_today().replace(day=1))
    else:
        message = "This book has no prices, and speech would be free: add a version first."
        raise invalid(message, "is_default")
    DefaultBook.objects.update_or_create(from_month=month, defaults={"book": book})
    changes = {"default": (before.book.slug if before else None, book.slug)}
    since = "" if month == ALWAYS else f"{month:%Y-%m}"
    record(actor, Action.PRICE_BOOK_MADE_DEFAULT, None, book.slug, changes=changes, since=since)
    transaction.on_commit(kept.forget)


@transaction.atomic
def add_version(
    actor: Actor,
    book: PriceBook,
    valid_from: date,
    rates: Sequence[Rate],
    minimum_characters: int = 0,
    note: str = "",
    *,
    is_earlier: bool = False,
) -> PriceVersion:
    """It takes the place of those that were to begin on its day, and of those that were to begin
    later as well, which has to be meant: `is_earlier`. Raises ApiError."""
    last = PriceBook.objects.select_for_update().get(pk=book.pk).versions.last()
    _check_begin(last, valid_from, is_earlier=is_earlier)
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
    """The tenant pays by this book from that month on: one to come, or one in which nothing was
    spoken at a price yet. Raises ApiError."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    _check_month(tenant, from_month)
    agreement, _ = Agreement.objects.update_or_create(
        tenant=tenant, from_month=from_month, defaults={"book": book}
    )
    month = f"{from_month:%Y-%m}"
    record(actor, Action.PRICES_AGREED, tenant, book.slug, from_month=month)
    transaction.on_commit(kept.forget)
    return agreement


def _check_begin(last: PriceVersion | None, valid_from: date, *, is_earlier: bool) -> None:
    if last is None:
        return
    earliest = _today() + timedelta(days=1)
    if valid_from < earliest:
        raise invalid(
            f"Prices of days that have begun stay: begin on {earliest} or later.", "valid_from"
        )
    if valid_from < last.valid_from and not is_earlier:
        raise invalid(
            f"Version {last.number} is to begin on {last.valid_from}, and would never: begin then"
            " or later, or tick this.",
            "is_earlier",
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
    if month < (earliest := earliest_agreement(tenant, month)):
        raise invalid(
            f"What was spoken keeps its price: agree from {earliest:%Y-%m} on.", "from_month"
        )


def earliest_agreement(tenant: Tenant, month: date) -> date:
    """That month, unless speech since it began has a price already: then the next one to come."""
    running = _today().replace(day=1)
    if month > running or not _is_priced(tenant, month):
        return month
    return next_month(running)


def _is_priced(tenant: Tenant, since: date) -> bool:
    return Rollup.objects.filter(
        tenant=tenant,
        grain=Grain.DAY,
        start__gte=midnight(since),
        price_version__isnull=False,
        billed_characters__gt=0,
    ).exists()


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
