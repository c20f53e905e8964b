"""Pages about money: what an operator sets there is what a tenant is billed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.http import HttpResponse
from django.test import Client

from billing.costs import services as costs
from billing.costs.models import EngineClass, FixedCost, HourlyPrice, ReferencePrice
from billing.costs.uptime import Beat
from billing.credit.selectors import balance
from billing.invoices.models import Document, Seller
from billing.invoices.tasks import issue_all
from billing.prices import selectors
from billing.prices.day_sales import add_up
from billing.prices.models import PriceBook, PriceVersion
from billing.prices.selectors import kept, price_list
from billing.prices.services import agree, create_book
from tests.billing.selling import AFTER, EUR, MAY, customer, price_book, seller, speak
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.audit.models import AuditEntry
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
    assert "<strong>17.5002 EUR</strong>" in page
    assert "would have 17.50 EUR." in page
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


def test_a_new_version_begins_with_all_that_the_latest_one_says(operator: Client) -> None:
    """What is sent as it is shown, but for its day, changes nothing."""
    book = price_book(minimum=10)
    shown = operator.get("/platform/prices/list")
    form, rates = shown.context["form"], shown.context["rates"]
    sent = {
        bound.html_name: bound.value() if bound.value() is not None else ""
        for each in (form, rates.management_form, *rates)
        for bound in each
    }
    response = operator.post("/platform/prices/list", {**sent, "valid_from": str(TOMORROW)})
    assert response.status_code == 302
    first, second = selectors.book_of(PriceBook.objects.get(pk=book.pk)).versions
    assert replace(second.terms, version=1) == first.terms


def test_a_price_that_is_no_number_is_marked(operator: Client) -> None:
    price_book()
    form = version_form(valid_from=str(TOMORROW)) | {"form-0-per_million": "ten"}
    page = operator.post("/platform/prices/list", form)
    assert page.status_code == 400
    assert "Only digits, and a point before at most 6 decimals" in page.content.decode()


def test_a_book_can_be_made_the_default(operator: Client) -> None:
    price_book()
    price_book("other")
    operator.post("/platform/prices/other/default")
    month = (datetime.now(UTC).date().replace(day=1) + timedelta(days=32)).strftime("%Y-%m")
    page = operator.get("/platform/prices").content.decode()
    assert f"default from {month}" in page
    assert f"until {month}" in page


def test_a_book_without_prices_is_not_made_the_default(operator: Client) -> None:
    price_book()
    operator.post("/platform/prices", {"name": "New", "slug": "new", "currency": "EUR"})
    assert operator.post("/platform/prices/new/default").status_code == 403
    assert [agreed.book for agreed in price_list().defaults] == ["list"]


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


def test_minutes_of_an_engine_are_shown_as_such(operator: Client) -> None:
    at = datetime(2026, 5, 10, tzinfo=UTC)
    costs.note_heartbeats([costs.Heard("one", "H200", Beat(at, 90.0, 3.2))])
    page = operator.get("/platform/costs?since=2026-05-01&until=2026-05-31").content.decode()
    assert '<td class="number">1.5 min</td><td class="number">3.2 s</td>' in page


@pytest.fixture
def h200() -> EngineClass:
    engine_class = costs.add_class(SYSTEM, "H200")
    costs.price_hours(SYSTEM, engine_class, MAY, 6_500_000)
    return engine_class


def price_hours(client: Client, day: date, **fields: str) -> HttpResponse:
    sent = {"engine_class": "h200", "valid_from": f"{day}", "per_hour": "4.29", **fields}
    return client.post("/platform/costs/settings/price", sent)


@pytest.mark.parametrize(
    ("day", "asked"),
    [
        (
            MAY,
            "There is a price from 2026-05-01 on, 6.50 USD: tick this to change it, and what days "
            "that have begun cost.",
        ),
        (
            date(2026, 4, 1),
            "An hour of 2026-04-01 was 6.50 USD: tick this to change what days that have begun "
            "cost.",
        ),
        (
            TODAY,
            f"An hour of {TODAY} was 6.50 USD: tick this to change what days that have begun cost.",
        ),
    ],
)
def test_a_price_that_changes_what_days_have_cost_asks_first(
    operator: Client, h200: EngineClass, day: date, asked: str
) -> None:
    refused = price_hours(operator, day)
    assert refused.status_code == 400
    assert asked in refused.content.decode()
    assert HourlyPrice.objects.get().per_hour_micros == 6_500_000

    assert price_hours(operator, day, is_sure="on").status_code == 302
    assert HourlyPrice.objects.get(valid_from=day).per_hour_micros == 4_290_000
    entry = AuditEntry.objects.filter(action="costs.changed").latest("at")
    before = 6_500_000 if day == MAY else None
    assert entry.changes == {f"per_hour_micros from {day}": [before, 4_290_000]}


def test_a_price_for_days_to_come_asks_nothing_the_first_time(
    operator: Client, h200: EngineClass
) -> None:
    assert price_hours(operator, TOMORROW).status_code == 302
    assert price_hours(operator, TOMORROW).status_code == 302, "the same changes nothing"
    refused = price_hours(operator, TOMORROW, per_hour="5")
    asked = f"There is a price from {TOMORROW} on, 4.29 USD: tick this to change it."
    assert asked in refused.content.decode()


@pytest.mark.parametrize("address", ["/platform", "/platform/"])
def test_the_installations_pages_begin_with_its_overview(operator: Client, address: str) -> None:
    answer = operator.get(address)
    assert (answer.status_code, answer["Location"]) == (302, "/platform/overview")


def test_revenue_in_another_currency_is_named_beside_the_figures(
    alice: Party, operator: Client
) -> None:
    price_book(per_million=10)
    speak(alice.tenant, 250_000)
    add_up([MAY])
    page = operator.get("/platform/costs?since=2026-05-01&until=2026-05-31").content.decode()
    assert "Revenue in other currencies is in no figure here:</strong>2.50 EUR</div>" in page


def test_costs_call_a_clone_by_its_name(alice: Party, operator: Client) -> None:
    voice = Voice.objects.create(tenant=alice.tenant, name="Ann", kind=Kind.X_VECTOR)
    speak(alice.tenant, 100, voice=voice.public_id)
    page = operator.get("/platform/costs/whose?since=2026-05-01&until=2026-05-31").content.decode()
    assert '<th scope="row">Ann (Alice)</th>' in page
    assert voice.public_id not in page


def test_a_sellers_page_tells_the_rule_and_keeps_its_name(operator: Client) -> None:
    fields = {"name": "We", "prefix": "WE-", "days_to_pay": "7"}
    operator.post("/platform/sellers/new", fields)
    where = f"/platform/sellers/{Seller.objects.get().pk}"
    assert "capitals or digits, then a hyphen (ACME-)" in operator.get(where).content.decode()
    page = operator.post(where, {**fields, "name": "They", "prefix": "they"})
    assert page.status_code == 400
    assert "<h1>We</h1>" in page.content.decode()


def test_an_engine_that_has_just_begun_was_up_for_minutes(operator: Client) -> None:
    beat = Beat(datetime.now(UTC), 1500.0, 0.0)
    costs.note_heartbeats([costs.Heard("one", "H200", beat)])
    assert (
        '<td class="number">25 min</td>'
        in operator.get("/platform/costs/settings").content.decode()
    )


def test_a_wrong_cost_is_marked_in_its_own_form(alice: Party, operator: Client) -> None:
    fields = {"name": "Rack", "per_month": "1", "valid_from": str(TODAY), "valid_until": str(MAY)}
    page = operator.post("/platform/costs/settings/fixed", fields)
    assert page.status_code == 400
    assert page.content.decode().count('role="alert"') == 1
    assert not FixedCost.objects.exists()


def test_what_is_not_known_is_no_number(alice: Party, operator: Client) -> None:
    """Alice speaks without a price book, and no engine was heard of."""
    speak(alice.tenant, 500, datetime.now(UTC))
    page = operator.get("/platform/costs").content.decode()
    tiles = page[page.index('<dl class="tiles"') : page.index("</dl>")]
    assert "idle \N{EN DASH}, fixed 0.00 USD" in tiles
    assert tiles.count("0.00") == 1
    assert "<dt>Margin</dt><dd>\N{EN DASH}</dd>" in tiles
    start = operator.get("/platform/overview").content.decode()
    assert "<dt>Revenue, this month</dt><dd>\N{EN DASH}</dd>" in start


def tiles(operator: Client) -> str:
    page = operator.get("/platform/overview").content.decode()
    return page[page.index('<dl class="tiles"') : page.index("</dl>")]


def run_engine(hours: int, per_hour: int) -> None:
    """Up until now for so long, at so many dollars an hour."""
    now = datetime.now(UTC)
    for at, up in ((now - timedelta(hours=hours), 0.0), (now, 3600.0 * hours)):
        costs.note_heartbeats([costs.Heard("one", "H200", Beat(at, up, up / 2))])
    costs.price_hours(SYSTEM, EngineClass.objects.get(), MAY, per_hour * EUR)


def test_the_overview_has_what_is_known(alice: Party, operator: Client) -> None:
    """A cost of today and none of the days before; a loss as on the page of costs."""
    price_book(per_million=1000, currency="USD")
    speak(alice.tenant, 1_000_000, datetime.now(UTC))
    add_up([TODAY.replace(day=1)])
    run_engine(1, 20_000)
    found = tiles(operator)
    assert "no cost is known of the 7 days before" in found
    margin = re.search(r"<dd>margin (-[\d,.]+ %)</dd>", found)
    assert margin is not None
    assert (
        f"<dt>Margin</dt><dd>{margin[1]}</dd>" in operator.get("/platform/costs").content.decode()
    )


@pytest.mark.parametrize(
    ("currency", "is_added_up", "note"),
    [
        ("EUR", True, "sold in other currencies: 10.00 EUR"),
        ("EUR", False, "not added up yet"),
        ("", True, "no price book held for what was spoken"),
    ],
)
def test_the_overview_says_why_there_is_no_revenue(
    alice: Party, operator: Client, currency: str, is_added_up: bool, note: str
) -> None:
    if currency:
        price_book(per_million=10, currency=currency)
    speak(alice.tenant, 1_000_000, datetime.now(UTC))
    if is_added_up:
        add_up([TODAY.replace(day=1)])
    assert f"<dt>Revenue, this month</dt><dd>\N{EN DASH}</dd><dd>{note}</dd>" in tiles(operator)


def test_the_days_of_a_period_are_exported(operator: Client) -> None:
    answer = operator.get("/platform/costs.csv?since=2026-05-01&until=2026-05-31")
    lines = answer.content.decode().splitlines()
    assert len(lines) == 32
    assert lines[1].startswith("2026-05-01,USD,0,0,0.000000,")


def test_cost_by_tenant_is_exported(alice: Party, operator: Client) -> None:
    speak(alice.tenant, 500, ms=1500)
    answer = operator.get("/platform/costs/tenants.csv?since=2026-05-01&until=2026-05-31")
    assert answer.content.decode().splitlines() == [
        "name,currency,characters,top_up_characters,engine_ms,cost,revenue,cost_per_million",
        "Alice,USD,500,0,1500,,,",
    ]


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


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """As if the engines served these models."""

    def serve(*models: str, lacks_some: bool = False) -> None:
        found = SimpleNamespace(
            models=[SimpleNamespace(id=each) for each in models], lacks_some=lacks_some
        )

        async def catalogue() -> SimpleNamespace:
            return found

        monkeypatch.setattr("ttsapp.console.served_voices.selectors.catalogue", catalogue)

    return serve


TYPO = {"valid_from": str(TOMORROW), "form-2-model": "tyni"}


def test_a_rate_for_a_model_that_nobody_serves_is_asked_about(
    operator: Client, serving: Callable[..., None]
) -> None:
    price_book()
    serving("tiny")
    asked = operator.post("/platform/prices/list", version_form(**TYPO))
    assert asked.status_code == 400
    assert "No such model is served: tyni. Mend it, or tick this." in asked.content.decode()
    assert PriceVersion.objects.count() == 1

    meant = operator.post("/platform/prices/list", version_form(**TYPO, not_served_yet="on"))
    assert meant.status_code == 302
    page = operator.get("/platform/prices/list").content.decode()
    assert "<strong>No such model served:</strong><code>tyni</code>." in page


def test_a_rate_for_a_model_that_is_served_is_not_asked_about(
    operator: Client, serving: Callable[..., None]
) -> None:
    price_book()
    serving("tiny", "tyni")
    assert operator.post("/platform/prices/list", version_form(**TYPO)).status_code == 302
    assert "No such model" not in operator.get("/platform/prices/list").content.decode()


def test_while_an_engine_is_away_no_model_is_asked_about(
    operator: Client, serving: Callable[..., None]
) -> None:
    price_book()
    serving("tiny", lacks_some=True)
    assert operator.post("/platform/prices/list", version_form(**TYPO)).status_code == 302


def test_a_row_without_its_price_is_refused(operator: Client) -> None:
    price_book()
    form = version_form(valid_from=str(TOMORROW)) | {"form-2-per_million": ""}
    page = operator.post("/platform/prices/list", form)
    assert page.status_code == 400
    assert "A price, or empty the whole row to leave it out." in page.content.decode()
    assert PriceVersion.objects.count() == 1
