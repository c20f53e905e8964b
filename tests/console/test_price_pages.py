"""Pages of price books: versions, defaults, and rates for models that are served."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.test import Client

from billing.prices import selectors
from billing.prices.models import PriceBook, PriceVersion
from billing.prices.selectors import kept, price_list
from tests.billing.selling import fresh_prices, price_book, speak
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party

__all__ = ["fresh_prices"]

TODAY = datetime.now(UTC).date()
TOMORROW = TODAY + timedelta(days=1)
TYPO = {"valid_from": str(TOMORROW), "form-2-model": "tyni"}
pytestmark = pytest.mark.usefixtures("fresh_prices")


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
