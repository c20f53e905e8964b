"""Invoices as PDF and CSV."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest
from pypdf import PdfReader

from billing.credit.models import Reason
from billing.credit.services import book
from billing.invoices import export, pdf, services
from billing.invoices.fonts import paragraph, unprintable
from billing.invoices.models import Document
from billing.invoices.parties import save_details
from billing.invoices.tasks import issue_all
from billing.prices.services import add_version, agree, create_book
from tests.billing.selling import AFTER, EUR, MAY, customer, flat, price_book, seller, speak
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Tenant


@pytest.fixture
def invoice(alice: Tenant) -> Document:
    alice.name = "Łódź <Söhne> & 東京 株式会社"
    price_book()
    customer(alice, seller())
    speak(alice, 3_000_000)
    issue_all(AFTER)
    return Document.objects.get()


def words(document: Document) -> str:
    pages = PdfReader(io.BytesIO(pdf.render(document))).pages
    return " ".join("\n".join(page.extract_text() for page in pages).split())


def test_it_works(invoice: Document) -> None:
    text = words(invoice)

    for part in (
        "Invoice",
        "PAR-000001",
        "May 2026 (UTC)",
        "Parlance Ltd · 1 Quay · Cork",
        "Tax number: IE1",
        "3,000,000",
        "10.00",
        "Total 30.00 EUR",
        "Thanks.",
    ):
        assert part in text


def test_it_says_how_many_characters_were_not_spoken(alice: Tenant) -> None:
    price_book(per_million=1000, minimum=1500)
    customer(alice, seller())
    speak(alice, 1)
    issue_all(AFTER)
    text = words(Document.objects.get())
    told = "1,499 of these characters were not spoken: short requests are paid for up to their"
    assert told in text


def test_one_character_is_one(alice: Tenant) -> None:
    price_book(per_million=10_000, minimum=2)
    customer(alice, seller())
    speak(alice, 1)
    issue_all(AFTER)
    assert "1 of these characters was not spoken" in words(Document.objects.get())


def test_without_a_minimum_it_says_nothing_of_it(invoice: Document) -> None:
    assert "not spoken" not in words(invoice)


def test_a_document_is_the_same_file_whenever_it_is_made(invoice: Document) -> None:
    assert pdf.render(invoice) == pdf.render(Document.objects.get())


def test_a_credit_note_names_what_it_corrects_and_why(invoice: Document) -> None:
    text = words(services.credit(SYSTEM, invoice, {1: 10 * EUR}, "An outage."))

    assert "Credit note" in text
    assert "PAR-000001 of" in text
    assert "Credited 10.00 EUR" in text
    assert "Reason: An outage." in text


def test_letters_get_the_font_that_has_them() -> None:
    assert paragraph("<b>é</b>") == "&lt;b&gt;é&lt;/b&gt;"
    assert paragraph("a東京 b") == 'a<font name="STSong-Light">東京</font> b'
    assert paragraph("서울") == '<font name="HYSMyeongJo-Medium">서울</font>'


def test_letters_that_cannot_be_printed_are_refused(alice: Tenant) -> None:
    assert unprintable("Ångström 東京 서울") == ""
    with pytest.raises(ApiError, match="PARLANCE_INVOICE_FONT") as refusal:
        save_details(SYSTEM, alice, seller=seller(), name="ไทย", next_month=MAY)
    assert refusal.value.field == "name"


def test_columns_of_the_csv_add_up(invoice: Document) -> None:
    services.credit(SYSTEM, invoice, {1: 10 * EUR}, "An outage.")

    rows = list(csv.DictReader(io.StringIO(export.as_csv(Document.objects.order_by("number")))))

    assert [row["number"] for row in rows] == ["PAR-000001", "PAR-000002"]
    assert [row["corrects"] for row in rows] == ["", "PAR-000001"]
    assert [row["amount"] for row in rows] == ["30.000000", "-10.000000"]
    assert [row["characters"] for row in rows] == ["3000000", "0"]
    assert {row["customer"] for row in rows} == {"Łódź <Söhne> & 東京 株式会社"}


def test_what_is_said_of_a_whole_document_is_on_its_first_line(alice: Tenant) -> None:
    own = create_book(SYSTEM, "Own", "own", "EUR")
    add_version(SYSTEM, own, MAY, [flat(10), flat(20, "large")], 2_000_000)
    agree(SYSTEM, alice, own, MAY)
    customer(alice, seller())
    speak(alice, 1_000_000)
    speak(alice, 2_000_000, model="large")
    book(SYSTEM, alice, Reason.PAID, 25 * EUR, "EUR")
    issue_all(AFTER)
    services.credit(SYSTEM, Document.objects.get(), {1: 5 * EUR, 2: 15 * EUR}, "An outage.")

    rows = list(csv.DictReader(io.StringIO(export.as_csv(Document.objects.order_by("number")))))

    names = ("amount", "document_total", "prepaid_credit", "still_due", "topped_up_characters")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("20.000000", "60.000000", "-25.000000", "15.000000", "1000000"),
        ("40.000000", "", "", "", ""),
        ("-5.000000", "-20.000000", "0.000000", "0.000000", ""),
        ("-15.000000", "", "", "", ""),
    ]
    assert {row["price_book"] for row in rows} == {"own"}
    totals = [sum(Decimal(row[name] or 0) for row in rows) for name in names[:4]]
    assert totals == [40, 40, -25, 15]
