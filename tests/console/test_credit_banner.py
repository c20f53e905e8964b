"""Above a tenant's pages: that its prepaid credit is low or gone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from billing.credit.models import Reason
from billing.credit.services import book
from billing.invoices.parties import save_details
from billing.prices.day_sales import add_up
from tests.billing.selling import EUR, fresh_prices, price_book, seller, speak
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.alerts.measures import credit
from ttsapp.alerts.rules import BY_CODE
from ttsapp.alerts.services import note_all
from ttsapp.audit.services import SYSTEM

__all__ = ["fresh_prices"]
pytestmark = pytest.mark.usefixtures("fresh_prices")

TODAY = datetime.now(UTC).date()
GONE, LOW = "The prepaid credit is used up.", "The prepaid credit runs out"


@pytest.fixture
def on_credit(alice: Party) -> None:
    """Alice has paid ten euros ahead."""
    price_book()
    fields = {"seller": seller(), "name": "A", "next_month": TODAY.replace(day=1)}
    save_details(SYSTEM, alice.tenant, **fields, is_prepaid=True)
    book(SYSTEM, alice.tenant, Reason.PAID, 10 * EUR, "EUR")


def shown(client: Client, page: str = "overview") -> str:
    response = client.get("/console/alice" if page == "overview" else f"/console/alice/{page}")
    assert response.status_code == 200
    return response.content.decode()


def test_no_banner_while_there_is_enough_credit(
    alice: Party, on_credit: None, sign_in: SignIn
) -> None:
    page = shown(sign_in("alice"), "keys")
    assert GONE not in page
    assert LOW not in page


def test_a_banner_tells_on_every_page_that_credit_is_gone(
    alice: Party, on_credit: None, sign_in: SignIn
) -> None:
    speak(alice.tenant, 1_000_000, datetime.now(UTC))
    for page in ("keys", "usage", "billing"):
        assert f'role="alert"><strong>{GONE}</strong>' in shown(sign_in("alice"), page)


def test_a_banner_tells_that_credit_is_low(alice: Party, on_credit: None, sign_in: SignIn) -> None:
    speak(alice.tenant, 900_000, datetime.now(UTC))
    add_up([TODAY.replace(day=1)])
    now = datetime.now(UTC)
    note_all(BY_CODE["credit"], credit(now), now)
    assert f"{LOW}: 1.00 EUR left, for 0.1 days.</strong>" in shown(sign_in("alice"), "keys")
    assert f"{LOW}.</strong>" in shown(sign_in("viewer"), "keys")


def test_the_banner_has_what_is_left_at_this_moment(
    alice: Party, on_credit: None, sign_in: SignIn
) -> None:
    """The alert was asked a moment ago, and more was spoken since."""
    speak(alice.tenant, 900_000, datetime.now(UTC))
    add_up([TODAY.replace(day=1)])
    now = datetime.now(UTC)
    note_all(BY_CODE["credit"], credit(now), now)
    speak(alice.tenant, 50_000, datetime.now(UTC))
    page = shown(sign_in("alice"), "billing")
    assert f"{LOW}: 0.50 EUR left, for 0.1 days.</strong>" in page
    assert "<strong>0.50 EUR</strong> left after what is not invoiced yet" in page


def test_a_top_up_ends_the_banner_at_once(alice: Party, on_credit: None, sign_in: SignIn) -> None:
    speak(alice.tenant, 1_000_000, datetime.now(UTC))
    book(SYSTEM, alice.tenant, Reason.PAID, EUR, "EUR")
    assert GONE not in shown(sign_in("alice"), "keys")


def test_one_tenants_banner_is_not_anothers(
    alice: Party, mallory: Party, on_credit: None, sign_in: SignIn
) -> None:
    speak(alice.tenant, 1_000_000, datetime.now(UTC))
    page = sign_in("mallory").get("/console/mallory/keys").content.decode()
    assert GONE not in page
