"""Pages of bills: what a tenant owes, and how it is told."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from billing.credit.selectors import balance
from billing.invoices.models import Document, Seller
from billing.invoices.tasks import issue_all
from billing.prices.services import agree, create_book
from tests.billing.selling import AFTER, EUR, MAY, customer, fresh_prices, price_book, seller, speak
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.audit.services import SYSTEM

__all__ = ["fresh_prices"]

TODAY = datetime.now(UTC).date()
TOMORROW = TODAY + timedelta(days=1)
pytestmark = pytest.mark.usefixtures("fresh_prices")


@pytest.fixture
def invoice(alice: Party) -> Document:
    price_book()
    customer(alice.tenant, seller())
    speak(alice.tenant, 3_000_000)
    issue_all(AFTER)
    return Document.objects.get()


def test_what_was_spoken_without_a_price_is_told(sign_in: SignIn, alice: Party) -> None:
    speak(alice.tenant, 1200, datetime.now(UTC))
    page = sign_in("alice").get("/console/alice/billing").content.decode()
    assert "1,200 characters in 1 request, and no price" in page
    assert "make the first call" not in page


def test_a_month_without_a_price_has_no_earlier_months_sum(sign_in: SignIn, alice: Party) -> None:
    price_book()
    speak(alice.tenant, 1200, datetime.now(UTC).replace(day=1) - timedelta(days=1))
    empty = create_book(SYSTEM, "Empty", "empty", "EUR")
    agree(SYSTEM, alice.tenant, empty, TODAY.replace(day=1))

    page = sign_in("alice").get("/console/alice/billing")

    assert (page.context["book"], page.context["draft"]) == (None, None)
    assert page.context["months"][-1].characters == 1200


def test_a_document_is_read_by_its_tenant_alone(
    invoice: Document, sign_in: SignIn, operator: Client
) -> None:
    path = f"/console/alice/billing/{invoice.pk}.pdf"
    own = sign_in("alice").get(path)

    assert own.status_code == 200
    assert own.content.startswith(b"%PDF-")
    assert own["content-type"] == "application/pdf"
    assert own["content-disposition"] == 'attachment; filename="PAR-000001.pdf"'
    assert sign_in("mallory").get(path).status_code == 404
    assert sign_in("mallory").get(path.replace("alice", "mallory")).status_code == 404
    assert operator.get(f"/platform/invoices/{invoice.pk}.pdf").content == own.content


def test_a_credit_note_is_issued_on_the_invoices_page(invoice: Document, operator: Client) -> None:
    path = f"/platform/invoices/{invoice.pk}"
    refused = operator.post(path, {"reason": "Outage.", "line_1": "31"})
    done = operator.post(path, {"reason": "Outage.", "line_1": "10"})

    assert refused.status_code == 400
    assert "Line 1: an amount up to 30.00 EUR." in refused.content.decode()
    assert done.status_code == 302
    note = Document.objects.get(corrects=invoice)
    assert (note.total_micros, note.reason) == (10 * EUR, "Outage.")
    assert "20.00 EUR by" in operator.get(path).content.decode()


def test_documents_are_filtered_and_exported_alike(invoice: Document, operator: Client) -> None:
    assert "PAR-000001" in operator.get("/platform/invoices?q=ali&month=2026-05").content.decode()
    for query in ("q=bob", "month=2026-06", "kind=credit_note"):
        assert "No document matches" in operator.get(f"/platform/invoices?{query}").content.decode()
        lines = operator.get(f"/platform/invoices.csv?{query}").content.decode().splitlines()
        assert len(lines) == 1
    assert operator.get("/platform/invoices?month=May").status_code == 400


def test_who_is_not_invoiced_is_named(alice: Party, operator: Client) -> None:
    speak(alice.tenant, 100, datetime.now(UTC))
    page = operator.get("/platform/invoices").content.decode()
    assert "Will not be invoiced, for want of billing details:" in page
    assert 'href="/platform/tenants/alice/billing">Alice</a>' in page


def test_a_tenants_bill_is_set_up(alice: Party, operator: Client) -> None:
    price_book("own")
    operator.post("/platform/sellers/new", {"name": "We", "prefix": "WE-", "days_to_pay": "7"})
    root = "/platform/tenants/alice/billing"
    month = f"{TODAY:%Y-%m}"
    details = {"name": "Alice Ltd", "seller": str(Seller.objects.get().pk), "next_month": month}
    answers = [
        operator.post(f"{root}/details", details),
        operator.post(f"{root}/agreement", {"book": "own", "from_month": month}),
        operator.post(f"{root}/credit", {"reason": "paid", "amount": "50", "currency": "EUR"}),
        operator.post(f"{root}/credit", {"reason": "refunded", "amount": "60", "currency": "EUR"}),
    ]

    assert [answer.status_code for answer in answers] == [302, 302, 302, 400]
    assert "There is only 50.00 EUR to pay back." in answers[3].content.decode()
    assert balance(alice.tenant, "EUR") == 50 * EUR
    page = operator.get(root).content.decode()
    assert "Alice Ltd" in page
    assert 'href="/platform/prices/own">Own</a>' in page


def test_a_tenant_is_put_on_prepaid_credit_alone(
    alice: Party, operator: Client, sign_in: SignIn
) -> None:
    price_book()
    root, month = "/platform/tenants/alice/billing", f"{TODAY:%Y-%m}"
    fields = {"name": "A", "seller": str(seller().pk), "next_month": month, "is_prepaid": "on"}
    assert operator.post(f"{root}/details", fields).status_code == 302
    client = sign_in("alice")
    empty = client.get("/console/alice/billing").content.decode()
    operator.post(f"{root}/credit", {"reason": "paid", "amount": "50", "currency": "EUR"})
    speak(alice.tenant, 1_000_000, datetime.now(UTC))
    page = client.get("/console/alice/billing").content.decode()

    assert "<strong>The credit is used up:</strong>" in empty
    assert "<strong>40.00 EUR</strong> left after what is not invoiced yet" in page
    assert "<strong>40.00 EUR</strong> left" in operator.get(root).content.decode()


def test_a_sellers_page_tells_the_rule_and_keeps_its_name(operator: Client) -> None:
    fields = {"name": "We", "prefix": "WE-", "days_to_pay": "7"}
    operator.post("/platform/sellers/new", fields)
    where = f"/platform/sellers/{Seller.objects.get().pk}"
    assert "capitals or digits, then a hyphen (ACME-)" in operator.get(where).content.decode()
    page = operator.post(where, {**fields, "name": "They", "prefix": "they"})
    assert page.status_code == 400
    assert "<h1>We</h1>" in page.content.decode()


def test_a_month_that_is_owed_is_skipped_by_its_sum_alone(alice: Party, operator: Client) -> None:
    price_book()
    customer(alice.tenant, seller(), MAY)
    speak(alice.tenant, 480_000)
    root = "/platform/tenants/alice/billing"
    fields = {"name": "A", "seller": str(Seller.objects.get().pk), "next_month": "2026-07"}

    assert "Never to be invoiced" not in operator.get(root).content.decode()
    refused = operator.post(f"{root}/details", fields)
    done = operator.post(f"{root}/details", {**fields, "never_invoiced": "4.80 EUR"})

    assert (refused.status_code, done.status_code) == (400, 302)
    page = refused.content.decode()
    assert "choose 2026-05, or write 4.80 EUR under Never to be invoiced." in page
    assert '<label for="id_never_invoiced">' in page
    hint = "Not invoiced, and never will be: invoices go on with July 2026.</strong>2026-05: 4.80"
    assert hint in operator.get(root).content.decode()


def test_what_is_not_invoiced_for_want_of_details_has_its_sum(
    alice: Party, operator: Client
) -> None:
    price_book()
    speak(alice.tenant, 480_000)
    page = operator.get("/platform/tenants/alice/billing").content.decode()
    assert "Not invoiced, for want of billing details.</strong>2026-05: 4.80 EUR" in page


def test_who_is_held_back_is_named(alice: Party, operator: Client) -> None:
    details = customer(alice.tenant, seller(), MAY)
    before = operator.get("/platform/invoices").content.decode()
    type(details).objects.update(next_month="2027-06-01")
    after = operator.get("/platform/invoices").content.decode()
    assert "This month will not be invoiced" not in before
    assert ">Alice</a> (invoices go on with 2027-06)" in after


def test_every_list_says_what_credit_notes_leave_to_be_paid(
    invoice: Document, operator: Client, sign_in: SignIn
) -> None:
    pages = ("/platform/invoices", "/platform/tenants/alice/billing")
    own = sign_in("alice")

    def due() -> list[str]:
        found = [operator.get(page).content.decode() for page in pages]
        found.append(own.get("/console/alice/billing").content.decode())
        return [
            re.findall(r"<td[^>]*>([^<]*)</td></tr>", page[page.index("To be paid") :])[-1]
            for page in (each[: each.index("</table>", each.index("To be paid"))] for each in found)
        ]

    by = f" by {invoice.due_on}"
    assert due() == ["30.00 EUR", f"30.00 EUR{by}", f"30.00 EUR{by}"]
    operator.post(f"/platform/invoices/{invoice.pk}", {"reason": "Outage.", "line_1": "10"})
    assert due() == ["20.00 EUR", f"20.00 EUR{by}", f"20.00 EUR{by}"]
    operator.post(f"/platform/invoices/{invoice.pk}", {"reason": "Outage.", "line_1": "20"})
    assert due() == ["\N{EN DASH}"] * 3
    [row, *_] = csv.DictReader(io.StringIO(own.get("/console/alice/billing.csv").content.decode()))
    assert row["still_due"] == "0.000000"


@pytest.mark.parametrize(
    ("characters", "shown", "is_rounded"), [(560, "0.0056 EUR", True), (1000, "0.01 EUR", False)]
)
def test_the_month_so_far_is_exact_and_says_what_an_invoice_would_have(
    alice: Party, sign_in: SignIn, characters: int, shown: str, is_rounded: bool
) -> None:
    price_book()
    speak(alice.tenant, characters, datetime.now(UTC))
    page = sign_in("alice").get("/console/alice/billing").content.decode()
    assert f"<strong>{shown}</strong>" in page
    told = "an invoice rounds each line to what can be paid, and would have 0.01 EUR."
    assert (told in page) is is_rounded
