"""Credit notes in any order and of any size: no line is taken back twice, and no money is made."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.credit.models import Reason
from billing.credit.selectors import balance
from billing.credit.services import book
from billing.invoices import selectors, services
from billing.invoices.models import Document
from billing.invoices.tasks import issue_all
from billing.prices.services import add_version, agree, create_book
from tests.billing.selling import AFTER, EUR, MAY, customer, flat, seller, speak
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Tenant

CENT = EUR // 100
PAID = 25 * EUR
# Micros of some of an invoice's two lines, such as nobody should get and such as cannot be paid.
NOTES = st.lists(
    st.dictionaries(
        st.integers(1, 3),
        st.one_of(
            st.integers(0, 2500).map(lambda cents: cents * CENT), st.integers(-EUR, 40 * EUR)
        ),
        max_size=2,
    ),
    max_size=6,
)


@pytest.fixture
def invoice(alice: Tenant) -> Document:
    """20 EUR and 10 EUR in two lines, of which 25 EUR were paid ahead."""
    own = create_book(SYSTEM, "Own", "own", "EUR")
    add_version(SYSTEM, own, MAY, [flat(10), flat(20, "large")])
    agree(SYSTEM, alice, own, MAY)
    customer(alice, seller())
    speak(alice, 1_000_000, datetime(2026, 5, 10, tzinfo=UTC))
    speak(alice, 1_000_000, datetime(2026, 5, 10, tzinfo=UTC), model="large")
    book(SYSTEM, alice, Reason.PAID, PAID, "EUR")
    assert issue_all(AFTER) == 1
    return Document.objects.get()


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(notes=NOTES)
def test_what_is_taken_back_is_what_was_charged(
    invoice: Document, alice: Tenant, notes: list[dict[int, int]]
) -> None:
    charged = dict(invoice.lines.values_list("position", "amount_micros"))
    taken = dict.fromkeys(charged, 0)
    save = transaction.savepoint()
    for amounts in notes:
        before = selectors.left_to_correct(invoice), balance(alice, "EUR")
        fits = bool(amounts) and all(
            0 < micros <= charged.get(position, 0) - taken.get(position, 0) and micros % CENT == 0
            for position, micros in amounts.items()
        )
        try:
            services.credit(SYSTEM, invoice, amounts, "A mistake.")
        except ApiError:
            assert not fits
            assert before == (selectors.left_to_correct(invoice), balance(alice, "EUR"))
            continue
        assert fits
        for position, micros in amounts.items():
            taken[position] += micros
        left = {position: charged[position] - taken[position] for position in charged}
        assert selectors.left_to_correct(invoice) == left
        # What is no more to be paid was either due, or is credit again: to the cent.
        due, put_back = selectors.still_due(invoice), balance(alice, "EUR")
        assert due >= 0
        assert (invoice.due_micros - due) + put_back == sum(taken.values())
    transaction.savepoint_rollback(save)
