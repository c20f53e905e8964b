"""Price books: versions that begin on days to come, and who pays by which."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from billing.models import UsageEvent
from billing.prices.models import Agreement, PriceBook, PriceVersion
from billing.prices.rates import ANY, Rate, Tier, VoiceKind
from billing.prices.selectors import kept, price_list
from billing.prices.services import add_version, agree, create_book, make_default
from billing.prices.uses import next_month
from tests.billing.selling import EUR, JUNE, MAY, flat, price_book, speak
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.speech.services import voice_kind
from ttsapp.tenants.models import Tenant
from ttsapp.voices.models import Kind
from ttsapp.voices.own import OwnVoice, Preset

TODAY = datetime.now(UTC).date()
TOMORROW = TODAY + timedelta(days=1)
THIS_MONTH = TODAY.replace(day=1)


def test_it_works(alice: Tenant) -> None:
    book = price_book()
    add_version(SYSTEM, book, TOMORROW, [flat(8), flat(12, "big")], 20, "Cheaper.")

    prices = price_list()
    now, then = prices.terms(alice.pk, TODAY), prices.terms(alice.pk, TOMORROW)

    assert now is not None
    assert then is not None
    assert (now.version, now.rate("big", "preset").tiers) == (1, (Tier(0, 10 * EUR),))
    assert (then.version, then.minimum_characters) == (2, 20)
    assert then.rate("big", "preset").tiers == (Tier(0, 12 * EUR),)
    actions = AuditEntry.objects.filter(tenant=None).order_by("pk").values_list("action", flat=True)
    assert list(actions) == [
        "price_book.created",
        "price_book.made_default",
        "prices.changed",
        "prices.changed",
    ]


def test_the_first_version_holds_before_its_day_too(alice: Tenant) -> None:
    price_book()
    terms = price_list().terms(alice.pk, date(2020, 1, 1))
    assert terms is not None
    assert terms.version == 1


def test_a_version_of_the_same_day_takes_the_last_ones_place(alice: Tenant) -> None:
    book = price_book()
    for price in (8, 9):
        add_version(SYSTEM, book, TOMORROW, [flat(price)])
    terms = price_list().terms(alice.pk, TOMORROW)
    assert terms is not None
    assert terms.version == 3


def test_prices_of_days_that_have_begun_stay(alice: Tenant) -> None:
    book = price_book()
    with pytest.raises(ApiError) as refusal:
        add_version(SYSTEM, book, TODAY, [flat(8)])
    assert refusal.value.field == "valid_from"
    assert PriceVersion.objects.count() == 1


@pytest.mark.parametrize(
    "rates",
    [
        [],
        [flat(10, "big")],
        [flat(10), flat(11)],
        [Rate(ANY, ANY, ())],
        [Rate(ANY, ANY, (Tier(5, EUR),))],
        [Rate(ANY, ANY, (Tier(0, EUR), Tier(9, EUR), Tier(9, EUR)))],
        [Rate(ANY, ANY, tuple(Tier(above, EUR) for above in range(101)))],
    ],
    ids=["none", "no rate for all", "twice", "no tier", "not from 0", "not rising", "too many"],
)
def test_wrong_rates_are_refused(alice: Tenant, rates: list[Rate]) -> None:
    book = create_book(SYSTEM, "List", "list", "EUR")
    with pytest.raises(ApiError) as refusal:
        add_version(SYSTEM, book, TODAY, rates)
    assert refusal.value.field == "rates"
    assert not PriceVersion.objects.exists()


def test_a_book_without_prices_charges_nothing(alice: Tenant) -> None:
    create_book(SYSTEM, "List", "list", "EUR", is_default=True)
    assert price_list().terms(alice.pk, TODAY) is None


def test_another_default_holds_from_next_month_on(alice: Tenant) -> None:
    price_book()
    make_default(SYSTEM, price_book("other", currency="USD"))
    month = TODAY.replace(day=1)
    following = (month + timedelta(days=32)).replace(day=1)
    prices = price_list()
    found = [prices.book(alice.pk, day) for day in (MAY, month, following)]
    assert [book.slug for book in found if book] == ["list", "list", "other"]


def test_who_changes_the_default_twice_a_month_has_the_last_one(alice: Tenant) -> None:
    first, other = price_book(), price_book("other")
    make_default(SYSTEM, other)
    make_default(SYSTEM, first)
    assert {agreed.book for agreed in price_list().defaults} == {"list"}


def test_the_first_default_with_prices_holds_for_what_was_spoken_before(alice: Tenant) -> None:
    create_book(SYSTEM, "Empty", "empty", "EUR", is_default=True)
    make_default(SYSTEM, price_book("other"))
    book = price_list().book(alice.pk, MAY)
    assert book is not None
    assert book.slug == "other"


def test_a_book_without_prices_takes_no_defaults_place(alice: Tenant) -> None:
    price_book()
    with pytest.raises(ApiError, match="has no prices") as refusal:
        create_book(SYSTEM, "Empty", "empty", "EUR", is_default=True)
    assert refusal.value.field == "is_default"
    assert not PriceBook.objects.filter(slug="empty").exists()


def test_an_agreement_holds_from_its_month_on(alice: Tenant, bob: Tenant) -> None:
    price_book()
    agree(SYSTEM, alice, price_book("own", 5), JUNE)

    prices = price_list()

    def slug(tenant: Tenant, month: date) -> str:
        book = prices.book(tenant.pk, month)
        return book.slug if book else ""

    assert [slug(alice, month) for month in (MAY, JUNE)] == ["list", "own"]
    assert slug(bob, JUNE) == "list"


def test_an_agreement_begins_with_a_month(alice: Tenant) -> None:
    with pytest.raises(ApiError, match="first of a month"):
        agree(SYSTEM, alice, price_book(), date(2026, 5, 2))


def test_an_event_says_by_which_prices_it_was_settled(alice: Tenant) -> None:
    speak(alice, 5)
    price_book(minimum=20)
    speak(alice, 5)

    found = UsageEvent.objects.order_by("settled_at")
    assert list(found.values_list("price_version", "top_up_characters")) == [(None, 0), (1, 15)]


def test_every_kind_of_voice_has_its_kind_of_price() -> None:
    sold = {kind.value: voice_kind(own(kind.value)).value for kind in Kind}
    assert sold == {"x_vector": "cloned", "in_context": "cloned", "designed": "designed"}
    assert voice_kind(Preset("Anna", "english", "")) is VoiceKind.PRESET


def own(kind: str) -> OwnVoice:
    return OwnVoice("voice_1", "english", "", "Mine", kind, "tiny", "f", "a")


def refused_agreement(tenant: Tenant, month: date) -> str:
    other = price_book("other", 5)
    with pytest.raises(ApiError) as refusal:
        agree(SYSTEM, tenant, other, month)
    assert (refusal.value.status, refusal.value.field) == (400, "from_month")
    assert not Agreement.objects.exists()
    return refusal.value.message


def test_an_agreement_leaves_what_was_spoken_this_month_at_its_price(alice: Tenant) -> None:
    price_book()
    speak(alice, 5, datetime.now(UTC))
    following = next_month(THIS_MONTH)
    message = f"What was spoken keeps its price: agree from {following:%Y-%m} on."
    assert refused_agreement(alice, THIS_MONTH) == message


def test_an_agreement_leaves_what_was_spoken_in_past_months_at_its_price(alice: Tenant) -> None:
    price_book()
    speak(alice, 5, datetime(2026, 5, 10, tzinfo=UTC))
    assert "What was spoken keeps its price" in refused_agreement(alice, MAY)


def test_an_agreement_for_a_month_to_come_may_be_another_one(alice: Tenant) -> None:
    price_book()
    speak(alice, 5, datetime.now(UTC))
    following = next_month(THIS_MONTH)
    for slug in ("first", "second"):
        agree(SYSTEM, alice, price_book(slug, 5), following)
    assert Agreement.objects.get().book.slug == "second"


def test_a_first_agreement_may_price_what_had_no_price(alice: Tenant, bob: Tenant) -> None:
    """Bob's own speech at a price holds nobody back but Bob."""
    speak(alice, 5, datetime.now(UTC))
    own = price_book("own", 5)
    agree(SYSTEM, bob, own, THIS_MONTH)
    speak(bob, 5, datetime.now(UTC))
    assert agree(SYSTEM, alice, own, THIS_MONTH).from_month == THIS_MONTH


def test_an_event_says_of_which_book_its_version_is(alice: Tenant) -> None:
    speak(alice, 5)
    price_book()
    agree(SYSTEM, alice, price_book("own", 5), THIS_MONTH)
    kept.forget()
    speak(alice, 5)
    speak(alice, 5, datetime.now(UTC))

    found = UsageEvent.objects.order_by("settled_at")
    noted = [("", None), ("list", 1), ("own", 1)]
    assert list(found.values_list("price_book", "price_version")) == noted


def test_a_version_that_begins_too_late_holds_no_other_up(alice: Tenant) -> None:
    book = price_book()
    far = date(2099, 12, 31)
    add_version(SYSTEM, book, far, [flat(8)])
    with pytest.raises(ApiError) as refusal:
        add_version(SYSTEM, book, TOMORROW, [flat(9)])
    assert (refusal.value.field, refusal.value.message) == (
        "is_earlier",
        "Version 2 is to begin on 2099-12-31, and would never: begin then or later, or tick this.",
    )

    add_version(SYSTEM, book, TOMORROW, [flat(9)], is_earlier=True)

    prices = price_list()
    terms = [prices.terms(alice.pk, day) for day in (TODAY, TOMORROW, far)]
    assert [each.version for each in terms if each] == [1, 3, 3]
    assert prices.books["list"].never_in_force == {2}


def test_a_first_version_that_begins_too_late_holds_until_the_next_one(alice: Tenant) -> None:
    book = create_book(SYSTEM, "List", "list", "EUR", is_default=True)
    add_version(SYSTEM, book, date(2099, 12, 31), [flat(8)])
    add_version(SYSTEM, book, TOMORROW, [flat(9)], is_earlier=True)
    prices = price_list()
    terms = [prices.terms(alice.pk, day) for day in (TODAY, TOMORROW, date(2099, 12, 31))]
    assert [each.version for each in terms if each] == [1, 2, 2]
    assert prices.books["list"].never_in_force == frozenset()


@pytest.mark.parametrize("days", [-1, 0])
def test_what_is_ticked_changes_no_day_that_has_begun(alice: Tenant, days: int) -> None:
    book = price_book()
    with pytest.raises(ApiError, match="Prices of days that have begun stay"):
        add_version(SYSTEM, book, TODAY + timedelta(days), [flat(9)], is_earlier=True)
    assert PriceVersion.objects.count() == 1
