"""Invoices of months that are over, credit notes, and the credit that pays them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from billing import money
from billing.credit import services as credit
from billing.credit.models import CreditEntry, Reason
from billing.credit.selectors import balance
from billing.facts import Immutable
from billing.invoices import selectors, services
from billing.invoices.models import Document, DocumentLine, Kind, Seller
from billing.invoices.parties import save_details, save_seller
from billing.invoices.tasks import issue_all
from billing.models import Reservation
from billing.prices.rates import VoiceKind
from billing.prices.services import add_version, agree
from billing.prices.uses import next_month
from tests.billing.selling import (
    AFTER,
    EUR,
    JULY,
    JUNE,
    MAY,
    customer,
    flat,
    price_book,
    seller,
    speak,
)
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Tenant


@pytest.fixture
def invoice(alice: Tenant) -> Document:
    """30 EUR for three million characters in May."""
    price_book()
    customer(alice, seller())
    speak(alice, 3_000_000)
    assert issue_all(AFTER) == 1
    return Document.objects.get()


def test_it_works(invoice: Document, alice: Tenant) -> None:
    line = invoice.lines.get()

    assert (invoice.tenant, invoice.kind, invoice.label) == (alice, Kind.INVOICE, "PAR-000001")
    assert (invoice.month, invoice.currency, invoice.total_micros) == (MAY, "EUR", 30 * EUR)
    assert (line.characters, line.per_million_micros, line.price_version) == (
        3_000_000,
        10 * EUR,
        1,
    )
    assert invoice.seller_lines == ["Parlance Ltd", "1 Quay", "Cork"]
    assert invoice.buyer_lines == ["Alice", "Tax number: IE1"]
    assert invoice.due_on == invoice.issued_at.date() + timedelta(days=14)
    assert AuditEntry.objects.filter(action="invoice.issued", target="PAR-000001").count() == 1


def test_a_month_is_invoiced_once(invoice: Document) -> None:
    assert issue_all(AFTER) == 0
    assert services.issue(SYSTEM, invoice.tenant, MAY) is None
    assert Document.objects.count() == 1


def test_the_month_is_the_utc_month(alice: Tenant) -> None:
    price_book()
    customer(alice, seller())
    speak(alice, 1_000_000, datetime(2026, 5, 31, 23, 59, 59, tzinfo=UTC))
    speak(alice, 2_000_000, datetime(2026, 6, 1, tzinfo=UTC))

    issue_all(datetime(2026, 7, 2, tzinfo=UTC))

    totals = dict(Document.objects.values_list("month", "total_micros"))
    assert totals == {MAY: 10 * EUR, JUNE: 20 * EUR}


def test_a_month_waits_for_its_last_request(alice: Tenant) -> None:
    price_book()
    customer(alice, seller())
    speak(alice, 1_000_000)
    late = datetime(2026, 5, 31, 23, 59, tzinfo=UTC)
    open_one = Reservation.objects.create(
        id=UUID(int=1), tenant=alice, model="tiny", voice="anna", created_at=late
    )

    assert issue_all(datetime(2026, 6, 1, 0, 10, tzinfo=UTC)) == 0
    assert issue_all(AFTER) == 0
    open_one.delete()
    assert issue_all(AFTER) == 1


def test_a_month_without_use_has_no_invoice_and_no_number(alice: Tenant) -> None:
    price_book()
    details = customer(alice, seller())

    assert issue_all(AFTER) == 0
    details.refresh_from_db()
    assert (details.next_month, details.seller.last_number) == (JUNE, 0)


def test_numbers_count_up_by_seller(alice: Tenant, bob: Tenant, mallory: Tenant) -> None:
    price_book()
    first, other = seller(), seller("OTH-")
    for tenant, by in ((alice, first), (bob, other), (mallory, first)):
        customer(tenant, by)
        speak(tenant, 1_000_000)

    issue_all(AFTER)

    labels = dict(Document.objects.values_list("tenant__slug", "label"))
    assert labels == {"alice": "PAR-000001", "bob": "OTH-000001", "mallory": "PAR-000002"}


def test_a_number_is_free_again_when_issuing_fails(
    alice: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    price_book()
    customer(alice, seller())
    speak(alice, 1_000_000)
    with monkeypatch.context() as patch:
        patch.setattr(services, "record", lambda *_, **__: 1 / 0)
        assert issue_all(AFTER) == 0

    assert Seller.objects.get().last_number == 0
    assert issue_all(AFTER) == 1


def test_what_goes_wrong_with_one_tenant_stops_no_other(
    alice: Tenant, bob: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    price_book()
    by, real = seller(), selectors.month_so_far
    for tenant in (alice, bob):
        customer(tenant, by)
        speak(tenant, 1_000_000)

    def broken(tenant: Tenant, month: date) -> object:
        return 1 / 0 if tenant == alice else real(tenant, month)

    monkeypatch.setattr(selectors, "month_so_far", broken)

    assert issue_all(AFTER) == 1
    assert Document.objects.get().tenant == bob


def test_each_pays_by_their_own_book(alice: Tenant, bob: Tenant) -> None:
    price_book()
    dear = price_book("dear", 20, currency="USD")
    agree(SYSTEM, bob, dear, MAY)
    for tenant in (alice, bob):
        customer(tenant, seller(f"{tenant.slug.upper()}-"))
        speak(tenant, 1_000_000)

    issue_all(AFTER)

    found = {each.tenant: (each.total_micros, each.currency) for each in Document.objects.all()}
    assert found == {alice: (10 * EUR, "EUR"), bob: (20 * EUR, "USD")}


def test_lines_say_what_was_spoken_and_add_up(alice: Tenant) -> None:
    book = price_book()
    rates = [flat(10), flat(30, "big"), flat(50, "big", VoiceKind.CLONED)]
    version = add_version(SYSTEM, book, date(2027, 1, 1), rates, note="by model")
    type(version).objects.filter(pk=version.pk).update(valid_from=date(2026, 5, 11))
    customer(alice, seller())
    for day, model, kind in (
        (10, "big", VoiceKind.PRESET),
        (12, "tiny", VoiceKind.CLONED),
        (12, "big", VoiceKind.PRESET),
        (12, "big", VoiceKind.CLONED),
    ):
        speak(alice, 1_234, datetime(2026, 5, day, tzinfo=UTC), model, kind=kind)

    issue_all(AFTER)

    document = Document.objects.get()
    assert [
        (line.text, line.price_version, line.amount_micros) for line in document.lines.all()
    ] == [
        ("Speech", 1, 10_000),
        ("Speech", 2, 10_000),
        ("Speech by big", 2, 40_000),
        ("Speech by big, cloned voices", 2, 60_000),
    ]
    assert document.total_micros == 120_000


def test_short_requests_are_charged_the_minimum(alice: Tenant) -> None:
    price_book(per_million=1000, minimum=50)
    customer(alice, seller())
    for characters in (1, 49, 50, 51):
        speak(alice, characters)

    issue_all(AFTER)

    assert DocumentLine.objects.get().characters == 50 + 50 + 50 + 51
    assert Document.objects.get().top_up_characters == 49 + 1


def test_a_line_says_of_which_book_its_version_is(invoice: Document) -> None:
    note = services.credit(SYSTEM, invoice, {1: 10 * EUR}, "An outage on 10 May.")
    assert [each.lines.get().price_book for each in (invoice, note)] == ["list", "list"]
    assert (invoice.top_up_characters, note.top_up_characters) == (0, None)


@pytest.mark.parametrize(
    ("paid", "drawn", "left"), [(0, 0, 0), (12, 12, 0), (30, 30, 0), (50, 30, 20)]
)
def test_prepaid_credit_pays_first(alice: Tenant, paid: int, drawn: int, left: int) -> None:
    price_book()
    customer(alice, seller())
    speak(alice, 3_000_000)
    if paid:
        credit.book(SYSTEM, alice, Reason.PAID, paid * EUR, "EUR")
    credit.move(alice, Reason.GIVEN, 5 * EUR, "USD")

    issue_all(AFTER)

    document = Document.objects.get()
    assert (document.credit_micros, document.due_micros) == (drawn * EUR, (30 - drawn) * EUR)
    assert (balance(alice, "EUR"), balance(alice, "USD")) == (left * EUR, 5 * EUR)


def test_a_credit_note_lowers_what_is_due(invoice: Document) -> None:
    note = services.credit(SYSTEM, invoice, {1: 10 * EUR}, "An outage on 10 May.")

    assert (note.kind, note.label, note.corrects) == (Kind.CREDIT_NOTE, "PAR-000002", invoice)
    assert (note.total_micros, note.credit_micros) == (10 * EUR, 0)
    assert selectors.still_due(invoice) == 20 * EUR
    assert selectors.left_to_correct(invoice) == {1: 20 * EUR}
    invoice.refresh_from_db()
    assert invoice.total_micros == 30 * EUR


def test_what_was_paid_from_credit_is_put_back(alice: Tenant) -> None:
    price_book()
    customer(alice, seller())
    speak(alice, 3_000_000)
    credit.book(SYSTEM, alice, Reason.PAID, 25 * EUR, "EUR")
    issue_all(AFTER)

    note = services.credit(SYSTEM, Document.objects.get(), {1: 30 * EUR}, "All of it.")

    assert (note.credit_micros, note.due_micros) == (25 * EUR, 5 * EUR)
    assert balance(alice, "EUR") == 25 * EUR
    moved = CreditEntry.objects.order_by("pk").values_list("reason", "amount_micros")
    assert list(moved) == [("paid", 25 * EUR), ("drawn", -25 * EUR), ("returned", 25 * EUR)]


@pytest.mark.parametrize(
    ("amounts", "reason", "field"),
    [
        ({}, "why", "amounts"),
        ({1: 30 * EUR + 10_000}, "why", "amounts"),
        ({1: 0}, "why", "amounts"),
        ({1: 12_345}, "why", "amounts"),
        ({2: EUR}, "why", "amounts"),
        ({1: EUR}, "  ", "reason"),
    ],
)
def test_a_wrong_correction_is_refused(
    invoice: Document, amounts: dict[int, int], reason: str, field: str
) -> None:
    with pytest.raises(ApiError) as refusal:
        services.credit(SYSTEM, invoice, amounts, reason)

    assert refusal.value.field == field
    assert Document.objects.count() == 1


def test_a_credit_note_is_not_corrected(invoice: Document) -> None:
    note = services.credit(SYSTEM, invoice, {1: EUR}, "why")
    with pytest.raises(ApiError, match="Only invoices"):
        services.credit(SYSTEM, note, {1: EUR}, "why")


def test_documents_are_never_edited(invoice: Document) -> None:
    line = invoice.lines.get()
    for act in (
        invoice.save,
        invoice.delete,
        line.save,
        Document.objects.all().delete,
        lambda: Document.objects.update(total_micros=1),
        lambda: DocumentLine.objects.update(amount_micros=1),
    ):
        with pytest.raises(Immutable):
            act()
    assert Document.objects.get().total_micros == 30 * EUR


def test_what_changes_later_leaves_documents_be(invoice: Document) -> None:
    save_seller(SYSTEM, invoice.seller, name="New name", prefix="PAR-")
    save_details(SYSTEM, invoice.tenant, seller=invoice.seller, name="Other", next_month=JULY)

    found = Document.objects.get()
    assert (found.label, found.seller_lines[0], found.buyer_lines[0]) == (
        "PAR-000001",
        "Parlance Ltd",
        "Alice",
    )


def test_the_beginning_of_numbers_that_are_out_stays(invoice: Document) -> None:
    with pytest.raises(ApiError, match="have been numbered") as refusal:
        save_seller(SYSTEM, invoice.seller, name="New name", prefix="NEW-")
    assert refusal.value.field == "prefix"


def test_two_sellers_number_apart(invoice: Document) -> None:
    with pytest.raises(ApiError, match="Another seller"):
        seller("PAR-")


def test_an_invoiced_month_cannot_be_set_again(invoice: Document) -> None:
    with pytest.raises(ApiError, match="invoiced already"):
        customer(invoice.tenant, invoice.seller, MAY)


def test_more_than_there_is_cannot_be_paid_back(alice: Tenant) -> None:
    credit.book(SYSTEM, alice, Reason.PAID, 5 * EUR, "EUR")
    with pytest.raises(ApiError, match=r"only 5\.00 EUR"):
        credit.book(SYSTEM, alice, Reason.REFUNDED, 6 * EUR, "EUR")
    assert balance(alice, "EUR") == 5 * EUR


@pytest.mark.parametrize("micros", [0, -1, 12_345, 10**15 + 10_000])
def test_an_amount_that_cannot_be_paid_is_no_credit(alice: Tenant, micros: int) -> None:
    with pytest.raises(ApiError, match=r"from 0\.01 EUR"):
        credit.book(SYSTEM, alice, Reason.PAID, micros, "EUR")


def test_nobody_reads_another_tenants_document(
    invoice: Document, bob: Tenant, mallory: Tenant
) -> None:
    assert selectors.document(invoice.tenant, invoice.pk) == invoice
    for other in (bob, mallory):
        assert selectors.document(other, invoice.pk) is None
        assert list(selectors.documents(other)) == []


def refused_credit(tenant: Tenant, reason: Reason, euros: int, currency: str = "EUR") -> ApiError:
    with pytest.raises(ApiError) as refusal:
        credit.book(SYSTEM, tenant, reason, euros * EUR, currency)
    return refusal.value


def test_what_was_given_is_not_paid_out(alice: Tenant) -> None:
    credit.book(SYSTEM, alice, Reason.GIVEN, 5 * EUR, "EUR")
    error = refused_credit(alice, Reason.REFUNDED, 5)
    assert (error.status, error.field) == (400, "amount")
    assert error.message == (
        "Only 0.00 EUR was paid in and not paid back yet: what was given is not paid out."
    )
    assert balance(alice, "EUR") == 5 * EUR


def test_what_was_paid_in_is_paid_out_once(alice: Tenant) -> None:
    credit.book(SYSTEM, alice, Reason.GIVEN, 5 * EUR, "EUR")
    credit.book(SYSTEM, alice, Reason.PAID, 8 * EUR, "EUR")
    credit.book(SYSTEM, alice, Reason.REFUNDED, 6 * EUR, "EUR")
    assert "Only 2.00 EUR was paid in" in refused_credit(alice, Reason.REFUNDED, 3).message
    credit.book(SYSTEM, alice, Reason.REFUNDED, 2 * EUR, "EUR")
    assert balance(alice, "EUR") == 5 * EUR


def test_what_another_tenant_paid_in_is_not_paid_out(alice: Tenant, bob: Tenant) -> None:
    credit.book(SYSTEM, bob, Reason.PAID, 5 * EUR, "EUR")
    credit.book(SYSTEM, alice, Reason.GIVEN, 5 * EUR, "EUR")
    assert "Only 0.00 EUR" in refused_credit(alice, Reason.REFUNDED, 5).message


@pytest.mark.parametrize("reason", [Reason.PAID, Reason.GIVEN])
def test_credit_in_a_currency_that_nothing_is_billed_in_is_refused(
    alice: Tenant, reason: Reason
) -> None:
    price_book()
    error = refused_credit(alice, reason, 5, "USD")
    assert (error.status, error.field) == (400, "currency")
    assert error.message == "Alice pays by List in EUR: credit in USD would never be drawn."


def test_credit_may_be_for_a_book_to_come(alice: Tenant) -> None:
    price_book()
    running = datetime.now(UTC).date().replace(day=1)
    agree(SYSTEM, alice, price_book("own", currency="USD"), next_month(running))
    for currency in ("EUR", "USD"):
        credit.book(SYSTEM, alice, Reason.PAID, 5 * EUR, currency)
    message = "Alice pays by List in EUR and Own in USD: credit in GBP would never be drawn."
    assert refused_credit(alice, Reason.PAID, 5, "GBP").message == message


def test_too_fine_an_amount_is_told_in_plain_words(invoice: Document) -> None:
    with pytest.raises(ApiError) as refusal:
        services.credit(SYSTEM, invoice, {1: 12_345}, "why")
    message = "Line 1: an amount in EUR has at most 2 decimals, such as 12.35."
    assert refusal.value.message == message


@pytest.mark.parametrize(
    ("currency", "words"),
    [
        ("JPY", "an amount in JPY has no decimals"),
        ("KWD", "an amount in KWD has at most 3 decimals, such as 12.345"),
    ],
)
def test_decimals_are_those_of_the_currency(currency: str, words: str) -> None:
    assert money.decimals(currency) == words
