"""Invoices as PDF and CSV."""

from __future__ import annotations

import csv
import io

import pytest
from pypdf import PdfReader

from billing.invoices import export, pdf, services
from billing.invoices.fonts import paragraph, unprintable
from billing.invoices.models import Document
from billing.invoices.parties import save_details
from billing.invoices.tasks import issue_all
from tests.billing.selling import AFTER, EUR, MAY, customer, price_book, seller, speak
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
