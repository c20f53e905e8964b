"""What Postgres itself refuses to change: documents, their lines and entries of credit."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction

from billing.credit.models import CreditEntry, Reason
from billing.credit.services import book
from billing.facts import Fact
from billing.invoices.models import Document
from billing.invoices.tasks import issue_all
from billing.upkeep import guard
from tests.billing.selling import AFTER, EUR, customer, fresh_prices, price_book, seller, speak
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import Tenant

__all__ = ["fresh_prices"]

pytestmark = pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="SQLite has no such triggers"
)
TABLES = {
    "billing_document": "total_micros = 1",
    "billing_documentline": "amount_micros = 1",
    "billing_creditentry": "amount_micros = 1",
}


@pytest.fixture(autouse=True)
def invoice(alice: Tenant, fresh_prices: None) -> Document:
    """Paid in part from what was paid ahead."""
    price_book()
    customer(alice, seller())
    speak(alice, 3_000_000)
    book(SYSTEM, alice, Reason.PAID, 20 * EUR, "EUR")
    issue_all(AFTER)
    return Document.objects.get()


def test_every_fact_is_tried() -> None:
    facts = (model for model in apps.get_models() if issubclass(model, Fact))
    assert {model._meta.db_table for model in facts} == set(TABLES)


@pytest.mark.parametrize("statement", ["UPDATE {0} SET {1}", "DELETE FROM {0}", "TRUNCATE {0}"])
@pytest.mark.parametrize("table", TABLES)
def test_its_owner_changes_none(invoice: Document, table: str, statement: str) -> None:
    cascade = " CASCADE" if statement.startswith("TRUNCATE") else ""
    with pytest.raises(IntegrityError, match=r"rows of billing_\w+ are never edited or removed"):
        run(statement.format(table, TABLES[table]) + cascade)
    kept = Document.objects.get()
    assert (kept.total_micros, kept.lines.get().amount_micros) == (30 * EUR, 30 * EUR)
    assert sorted(CreditEntry.objects.values_list("amount_micros", flat=True)) == [
        -20 * EUR,
        20 * EUR,
    ]


def test_who_says_so_first_mends_one(invoice: Document) -> None:
    with guard.opened():
        run("UPDATE billing_document SET note = 'mended'")
    assert Document.objects.get().note == "mended"


def run(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # while a check is due nothing is truncated
        cursor.execute(statement)
