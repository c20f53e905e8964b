"""What requests and days cost in money: to who may see bills, and to nobody else."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta

import pytest

from billing.invoices.models import Document
from billing.invoices.tasks import issue_all
from billing.models import Rollup
from billing.prices.day_sales import add_up
from billing.prices.selectors import kept
from billing.prices.services import agree
from tests.billing.selling import customer, fresh_prices, price_book, seller
from tests.console.conftest import SignIn
from tests.console.test_lists import content
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.audit.services import SYSTEM

__all__ = ["fresh_prices"]

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
TODAY = datetime.now(UTC).date()
MAY = "?since=2026-05-01&until=2026-05-31"
PRICE = '<td class="number">0.0015 EUR</td>'


@pytest.fixture(autouse=True)
def spoken(fresh_prices: None, alice: Party) -> str:
    """A hundred characters at 15 EUR a million."""
    price_book(per_million=15)
    request = use(alice.tenant, alice.key, NOON, characters=100)
    add_up([date(2026, 5, 1)])
    return str(request)


def shown(sign_in: SignIn, role: str, path: str) -> str:
    return sign_in(role).get(f"/console/alice/{path}").content.decode()


def test_it_works(sign_in: SignIn, spoken: str) -> None:
    assert shown(sign_in, "admin", "requests").count(PRICE) == 1
    assert "<dt>Price</dt><dd>0.0015 EUR " in shown(sign_in, "admin", f"requests/{spoken}")


def test_what_was_refused_has_no_price(sign_in: SignIn, alice: Party) -> None:
    use(alice.tenant, alice.key, NOON, "refused")
    page = shown(sign_in, "admin", "requests?ended=refused")
    assert " EUR" not in page
    assert '<th scope="col" class="number">Price</th>' in page


@pytest.mark.parametrize("path", ["requests", "usage" + MAY])
def test_who_may_not_see_bills_sees_no_price(sign_in: SignIn, path: str) -> None:
    page = shown(sign_in, "developer", path)
    assert " EUR" not in page
    assert ">Price<" not in page


@pytest.fixture
def short(alice: Party, spoken: str) -> str:
    """One character, where ten are paid for at least."""
    book = price_book("short", per_million=15, minimum=10)
    agree(SYSTEM, alice.tenant, book, TODAY.replace(day=1))
    kept.forget()
    return str(use(alice.tenant, alice.key, datetime.now(UTC), characters=1))


def test_a_minimum_is_told_beside_what_was_spoken(sign_in: SignIn, short: str) -> None:
    paid = '<dt>Paid for</dt><dd>10 <span class="soft">the minimum a request of its price</span>'
    assert paid in shown(sign_in, "admin", f"requests/{short}")
    used = "of 1 sent; paid for 9 more, up to the minimum a request"
    assert used in shown(sign_in, "admin", "usage")
    bill = "9 of these characters were not spoken: short requests are paid for up to"
    assert bill in shown(sign_in, "admin", "billing")
    assert bill in sign_in("operator").get("/platform/tenants/alice/billing").content.decode()


@pytest.mark.parametrize("path", ["requests/{}", "usage"])
def test_a_minimum_is_not_told_to_who_may_not_see_bills(
    sign_in: SignIn, short: str, path: str
) -> None:
    assert "aid for" not in shown(sign_in, "developer", path.format(short))


def usage_file(sign_in: SignIn, role: str) -> list[dict[str, str]]:
    text = content(sign_in(role).get("/console/alice/usage.csv"))
    return list(csv.DictReader(io.StringIO(text)))


def test_the_file_of_usage_says_what_was_paid_for_on_top(sign_in: SignIn, short: str) -> None:
    [row] = usage_file(sign_in, "admin")
    assert (row["characters_charged"], row["characters_topped_up"]) == ("1", "9")


def test_the_file_of_usage_says_so_to_who_may_see_bills_alone(sign_in: SignIn, short: str) -> None:
    [row] = usage_file(sign_in, "developer")
    assert "characters_topped_up" not in row


def test_an_invoice_says_what_was_topped_up(alice: Party, sign_in: SignIn) -> None:
    customer(alice.tenant, seller(), date(2026, 5, 1))
    Rollup.objects.update(top_up_characters=1500)
    issue_all(NOON + timedelta(days=40))
    page = sign_in("operator").get(f"/platform/invoices/{Document.objects.get().pk}")
    assert "1,500 of these characters were not spoken" in page.content.decode()


def test_a_day_has_its_price_and_the_period_its_sum(sign_in: SignIn) -> None:
    page = shown(sign_in, "admin", f"usage{MAY}")
    assert page.count(PRICE) == 1
    assert "<dt>Price</dt><dd>0.0015 EUR</dd>" in page


def test_without_a_price_usage_has_no_such_column(sign_in: SignIn) -> None:
    page = shown(sign_in, "admin", "usage?since=2026-04-01&until=2026-04-30")
    assert ">Price<" not in page


def test_the_file_of_requests(transactional_db: None, sign_in: SignIn) -> None:
    rows = read(sign_in, "admin")
    assert [(row["price"], row["currency"]) for row in rows] == [("0.001500", "EUR")]
    assert [(row["price_book"], row["price_version"]) for row in rows] == [("list", "1")]


def test_the_file_of_who_may_not_see_bills(transactional_db: None, sign_in: SignIn) -> None:
    [row] = read(sign_in, "developer")
    assert not {"price", "currency"} & set(row)


def read(sign_in: SignIn, role: str) -> list[dict[str, str]]:
    text = content(sign_in(role).get("/console/alice/requests.csv"))
    return list(csv.DictReader(io.StringIO(text)))
