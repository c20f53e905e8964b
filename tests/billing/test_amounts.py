"""Amounts as people type them: one rule, the same in every form, and one error."""

from __future__ import annotations

import pytest
from django import forms

from billing.costs.forms import CapacityForm, FixedCostForm, PriceForm, ReferenceForm
from billing.fields import MoneyField
from billing.invoices.export import plain
from billing.invoices.forms import CreditForm
from billing.prices.forms import RateForm

CLEAR = "Only digits, and a point before at most 6 decimals, such as 1234.50."
WRONG = [
    *("1e3", "1E3", "NaN", "nan", "Infinity", "-inf", "0x10", "1_000"),
    *("\u0663", "\uff11\uff12", "1\u066b5", "\u00bd", "\u00b2"),  # other scripts' digits
    *("1,000", " 1,000 ", "1,5", "1 000", "1\u00a0000", "1'000", "1.000,50"),
    *("-1", "-0", "+1", "\u22121", "(1)", "1-"),
    *(".5", "5.", "1..5", "1.2.3", "1.0000001", "$1", "1 EUR", "1%", "one", "."),
]
# A form, its amount, and all else that it wants.
FORMS: list[tuple[type[forms.Form], str, dict[str, str]]] = [
    (CreditForm, "amount", {"reason": "paid", "currency": "EUR"}),
    (PriceForm, "per_hour", {}),
    (FixedCostForm, "per_month", {"name": "Rack", "valid_from": "2026-05-01"}),
    (ReferenceForm, "per_million", {"name": "Elsewhere"}),
    (RateForm, "per_million", {}),
]


@pytest.mark.parametrize(
    ("typed", "micros"),
    [
        ("0", 0),
        ("1", 1_000_000),
        ("1234.50", 1_234_500_000),
        ("0.000001", 1),
        (" 12.5 ", 12_500_000),
        ("007", 7_000_000),
        ("1000000000", 10**15),
    ],
)
def test_it_works(typed: str, micros: int) -> None:
    assert MoneyField().clean(typed) == micros


@pytest.mark.parametrize("typed", WRONG)
def test_what_is_no_amount_is_refused_with_one_error(typed: str) -> None:
    with pytest.raises(forms.ValidationError) as refused:
        MoneyField().clean(typed)
    assert refused.value.messages == [CLEAR]


@pytest.mark.parametrize("typed", ["1000000000.01", "1000000001", "9" * 30])
def test_too_much_is_refused(typed: str) -> None:
    with pytest.raises(forms.ValidationError) as refused:
        MoneyField().clean(typed)
    assert refused.value.messages == ["At most 1,000,000,000."]


@pytest.mark.parametrize("typed", ["1e3", "\u0663", "NaN", " 1,000 ", "-1", "1.0000001"])
@pytest.mark.parametrize(("form", "name", "beside"), FORMS)
@pytest.mark.django_db
def test_every_form_says_the_same(
    form: type[forms.Form], name: str, beside: dict[str, str], typed: str
) -> None:
    filled = form({**beside, name: typed})
    assert filled.errors[name] == [CLEAR]


@pytest.mark.parametrize("typed", ["1e3", "\u0663", "NaN", "1,000", "-1", "1.0001"])
@pytest.mark.django_db
def test_a_speed_is_typed_alike(typed: str) -> None:
    errors = CapacityForm({"characters_per_second": typed}).errors["characters_per_second"]
    assert errors == [CLEAR.replace("6", "3")]


def test_what_a_form_begins_with_may_be_sent_back() -> None:
    field = MoneyField()
    assert field.prepare_value(1_234_500_001) == "1234.500001"
    assert field.clean(field.prepare_value(1_234_500_001)) == 1_234_500_001
    assert not field.has_changed(10_000_000, "10")


@pytest.mark.parametrize("lead", ["", " ", "\t", " \t", "\ufeff", "\u200b", "\u00a0", "\n", "\x00"])
@pytest.mark.parametrize(
    "sign", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe62", "\ufe66"]
)
def test_no_cell_of_a_file_is_a_formula(lead: str, sign: str) -> None:
    cell = f"{lead}{sign}1+cmd"
    assert plain(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["\tx", "\rx", "\nx"])
def test_what_leads_into_another_cell_is_held(cell: str) -> None:
    assert plain(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "a=1", "Anna-Lena", "1+1", " a", "\u2212", -5, 1.5, None])
def test_other_cells_stay(cell: object) -> None:
    assert plain(cell) == cell
