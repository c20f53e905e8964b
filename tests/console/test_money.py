"""Pages about money: what an operator sets there is what a tenant is billed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from billing.costs.models import FixedCost, HourlyPrice, ReferencePrice
from billing.credit.selectors import balance
from billing.invoices.models import Document, Seller
from billing.invoices.tasks import issue_all
from billing.prices.models import PriceBook, PriceVersion
from billing.prices.selectors import kept
from billing.prices.services import agree, create_book
from tests.billing.selling import AFTER, EUR, MAY, customer, price_book, seller, speak
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.audit.services import SYSTEM
from ttsapp.voices.models import Kind, Voice

TODAY = datetime.now(UTC).date()
TOMORROW = TODAY + timedelta(days=1)


@pytest.fixture(autouse=True)
def fresh_prices() -> Iterator[None]:
    kept.forget()
    yield
    kept.forget()


@pytest.fixture
def operator(sign_in: SignIn) -> Client:
    return sign_in("operator")


@pytest.fixture
def invoice(alice: Party) -> Document:
    price_book()
    customer(alice.tenant, seller())
    speak(alice.tenant, 3_000_000)
    issue_all(AFTER)
    return Document.objects.get()


def version_form(**fields: str) -> dict[str, str]:
    rates = {
        "form-TOTAL_FORMS": "4",
        "form-INITIAL_FORMS": "0",
        "form-0-per_million": "12.5",
        "form-1-above": "1000000",
        "form-1-per_million": "10",
        "form-2-voice_kind": "cloned",
        "form-2-per_million": "30",
    }
    return {"valid_from": str(TODAY), "minimum_characters": "20", "note": "", **rates, **fields}


def test_it_works(operator: Client, sign_in: SignIn, alice: Party) -> None:
    book = {"name": "List", "slug": "list", "currency": "eur", "is_default": "on"}
    operator.post("/platform/prices", book)
    response = operator.post("/platform/prices/list", version_form())
    assert response.status_code == 302
    kept.forget()
    speak(alice.tenant, 1_500_000, datetime.now(UTC))
    speak(alice.tenant, 5, datetime.now(UTC))

    page = sign_in("alice").get("/console/alice/billing").content.decode()
    shown = operator.get("/platform/prices/list").content.decode()

    assert "12.50 EUR" in page
    assert "beyond 1,000,000 characters of the month" in page
    assert '<td class="number">1,500,020</td>' in page
    assert "<strong>17.50 EUR</strong>" in page
    assert "30.00 EUR" in shown
    assert "at least 20 characters a request" in shown


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


def test_a_refused_version_says_why_and_keeps_what_was_typed(operator: Client) -> None:
    price_book()
    page = operator.post("/platform/prices/list", version_form(note="typed"))

    assert page.status_code == 400
    assert "Prices of days that have begun stay" in page.content.decode()
    assert 'value="12.5"' in page.content.decode()
    assert 'value="typed"' in page.content.decode()
    assert PriceVersion.objects.count() == 1


def test_a_price_that_is_no_number_is_marked(operator: Client) -> None:
    price_book()
    form = version_form(valid_from=str(TOMORROW)) | {"form-0-per_million": "ten"}
    page = operator.post("/platform/prices/list", form)
    assert page.status_code == 400
    assert "Enter a number." in page.content.decode()


def test_a_book_can_be_made_the_default(operator: Client) -> None:
    price_book("other")
    operator.post("/platform/prices/other/default")
    assert PriceBook.objects.get().is_default


def test_a_document_is_read_by_its_tenant_alone(
    invoice: Document, sign_in: SignIn, operator: Client
) -> None:
    path = f"/console/alice/billing/{invoice.pk}.pdf"
    own = sign_in("alice").get(path)

    assert own.status_code == 200
    assert own.content.startswith(b"%PDF-")
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


def test_costs_are_set_and_shown(alice: Party, operator: Client) -> None:
    root = "/platform/costs/settings"
    sent = {
        "class": {"name": "H200"},
        "name": {"engine_class": "h200", "name": "H200, ours"},
        "price": {"engine_class": "h200", "valid_from": str(MAY), "per_hour": "6.50"},
        "capacity": {"engine_class": "h200", "characters_per_second": "594"},
        "fixed": {"name": "Rack", "per_month": "310", "valid_from": str(MAY)},
        "reference": {"name": "Elsewhere", "per_million": "30", "source": "their page"},
    }
    for what, fields in sent.items():
        assert operator.post(f"{root}/{what}", fields).status_code == 302, what

    page = operator.get("/platform/costs?since=2026-05-01&until=2026-05-31").content.decode()

    assert '<td class="number">3.04 USD</td><td class="number">6.08 USD</td>' in page
    assert "Elsewhere" in page
    assert "H200, ours" in page
    assert 'data-price="6.5" data-speed="594"' in page
    rows = (HourlyPrice, "price"), (FixedCost, "fixed"), (ReferencePrice, "reference")
    for model, what in rows:
        operator.post(f"{root}/{what}/{model.objects.get().pk}/remove")
        assert not model.objects.exists()


def test_costs_call_a_clone_by_its_name(alice: Party, operator: Client) -> None:
    voice = Voice.objects.create(tenant=alice.tenant, name="Ann", kind=Kind.X_VECTOR)
    speak(alice.tenant, 100, voice=voice.public_id)
    page = operator.get("/platform/costs?since=2026-05-01&until=2026-05-31").content.decode()
    assert '<th scope="row">Ann (Alice)</th>' in page
    assert voice.public_id not in page


def test_a_wrong_cost_is_marked_in_its_own_form(alice: Party, operator: Client) -> None:
    fields = {"name": "Rack", "per_month": "1", "valid_from": str(TODAY), "valid_until": str(MAY)}
    page = operator.post("/platform/costs/settings/fixed", fields)
    assert page.status_code == 400
    assert page.content.decode().count('role="alert"') == 1
    assert not FixedCost.objects.exists()


def test_the_days_of_a_period_are_exported(operator: Client) -> None:
    answer = operator.get("/platform/costs.csv?since=2026-05-01&until=2026-05-31")
    lines = answer.content.decode().splitlines()
    assert len(lines) == 32
    assert lines[1].startswith("2026-05-01,USD,0,0.000000,")


def test_cost_by_tenant_is_exported(alice: Party, operator: Client) -> None:
    speak(alice.tenant, 500, ms=1500)
    answer = operator.get("/platform/costs/tenants.csv?since=2026-05-01&until=2026-05-31")
    assert answer.content.decode().splitlines() == [
        "name,currency,characters,engine_ms,cost,revenue,cost_per_million",
        "Alice,USD,500,1500,0.000000,0.000000,0.000000",
    ]
