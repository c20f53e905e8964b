"""Days and months that nobody means: each form about money refuses them by their field's name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from billing.costs.models import EngineClass, FixedCost, HourlyPrice
from billing.invoices.models import BillingDetails
from billing.prices.models import Agreement, PriceVersion
from tests.billing.selling import fresh_prices, price_book, seller
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party

__all__ = ["fresh_prices"]

FAR = ["0001-01-01", "1999-12-31", "2100-01-01", "9999-12-31"]
COSTS = "/platform/costs/settings"
BILLING = "/platform/tenants/alice/billing"
MADE = (PriceVersion, HourlyPrice, FixedCost, BillingDetails, Agreement)
VERSION = {
    "minimum_characters": "0",
    "form-TOTAL_FORMS": "1",
    "form-INITIAL_FORMS": "0",
    "form-0-per_million": "8",
}
PRICE = {"engine_class": "h200", "per_hour": "6.50"}
FIXED = {"name": "Rack", "per_month": "310"}
# Address, field and its label, the other fields.
FORMS = [
    ("/platform/prices/list", "valid_from", "From (UTC)", VERSION),
    (f"{COSTS}/price", "valid_from", "From (UTC)", PRICE),
    (f"{COSTS}/fixed", "valid_from", "From (UTC)", FIXED),
    (f"{COSTS}/fixed", "valid_until", "Until, not included", {**FIXED, "valid_from": "2026-05-01"}),
    (f"{BILLING}/details", "next_month", "Next month to invoice (UTC)", {"name": "Alice Ltd"}),
    (f"{BILLING}/agreement", "from_month", "From month (UTC)", {"book": "list"}),
]


@pytest.fixture
def operator(sign_in: SignIn, alice: Party, fresh_prices: None) -> Client:
    """Where there is a book, a seller and a class of engines."""
    price_book()
    seller()
    EngineClass.objects.create(name="H200", slug="h200")
    return sign_in("operator")


@pytest.mark.parametrize("day", FAR)
@pytest.mark.parametrize(("path", "name", "label", "others"), FORMS)
def test_what_is_set(
    operator: Client, path: str, name: str, label: str, others: dict[str, str], day: str
) -> None:
    before = [model.objects.count() for model in MADE]
    is_month = name.endswith("month")
    bounds = "2000-01 to 2099-12" if is_month else "2000-01-01 to 2099-12-31"

    page = operator.post(path, {**others, name: day[:7] if is_month else day})

    assert page.status_code == 400
    assert f"{label} must be from {bounds}." in page.content.decode()
    assert [model.objects.count() for model in MADE] == before


@pytest.mark.parametrize("day", FAR)
@pytest.mark.parametrize("path", ["costs", "costs.csv", "costs/whose", "audit", "audit.csv"])
@pytest.mark.parametrize(("name", "label"), [("since", "From"), ("until", "To")])
def test_what_is_asked_for(operator: Client, path: str, name: str, label: str, day: str) -> None:
    page = operator.get(f"/platform/{path}?{name}={day}")
    assert page.status_code == 400
    assert f"{label} must be from 2000-01-01 to 2099-12-31." in page.content.decode()


@pytest.mark.parametrize("day", FAR)
def test_a_months_documents(operator: Client, day: str) -> None:
    page = operator.get(f"/platform/invoices?month={day[:7]}")
    assert page.status_code == 400
    assert "Month (UTC) must be from 2000-01 to 2099-12." in page.content.decode()


def test_the_browser_is_told_the_bounds(operator: Client) -> None:
    page = operator.get("/platform/prices/list").content.decode()
    assert '<input type="date" name="valid_from" min="2000-01-01" max="2099-12-31"' in page
    page = operator.get("/platform/invoices").content.decode()
    assert '<input type="month" name="month" min="2000-01" max="2099-12"' in page


def test_a_version_whose_day_was_mistyped_is_replaced(operator: Client) -> None:
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    assert (
        operator.post("/platform/prices/list", {**VERSION, "valid_from": "2099-12-31"}).status_code
        == 302
    )
    meant = {**VERSION, "valid_from": f"{tomorrow}"}

    asked = operator.post("/platform/prices/list", meant)
    assert asked.status_code == 400
    assert "Version 2 is to begin on 2099-12-31, and would never" in asked.content.decode()

    assert operator.post("/platform/prices/list", {**meant, "is_earlier": "on"}).status_code == 302
    shown = operator.get("/platform/prices/list").content.decode()
    assert shown.count("never in force") == 1
    assert 'Version 2 <span class="pill expired">never in force' in shown
