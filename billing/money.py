"""Money as whole millionths of a currency unit ("micros"): no floating point anywhere near it."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

MICROS = 1_000_000
MOST = 10**9
_TYPED = re.compile(r"[0-9]{1,30}(\.(?P<decimals>[0-9]{1,30}))?")
# ISO 4217: the currencies whose smallest unit is not a hundredth.
_WHOLE = ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND")
_DIGITS = {
    **dict.fromkeys((*_WHOLE, "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}

is_currency = RegexValidator(r"\A[A-Z]{3}\Z", "Three capitals of ISO 4217, such as EUR or USD.")


def digits(currency: str) -> int:
    """Decimal places that the currency is paid in."""
    return _DIGITS.get(currency, 2)


def parse(text: str, places: int = 6) -> Decimal:
    """What people type, in one way for all languages: digits, and a point before decimals. No sign,
    no separators (which of them is the decimal one?), no exponent. Raises ValidationError."""
    found = _TYPED.fullmatch(text.strip(" "))
    if found is None or len(found["decimals"] or "") > places:
        message = f"Only digits, and a point before at most {places} decimals, such as 1234.50."
        raise ValidationError(message, "invalid_amount")
    amount = Decimal(found[0])
    if amount > MOST:
        raise ValidationError(f"At most {MOST:,}.", "amount_too_large")
    return amount


def decimals(currency: str) -> str:
    """How its amounts are written, in words."""
    places = digits(currency)
    most = f"at most {places} decimals, such as {12.345:.{places}f}" if places else "no decimals"
    return f"an amount in {currency} has {most}"


def to_micros(amount: Decimal) -> int:
    """Of what has no more than six decimals."""
    return int(amount * MICROS)


def to_decimal(micros: int) -> Decimal:
    """Exactly, with all six places."""
    return Decimal(micros).scaleb(-6)


def smallest(currency: str) -> int:
    """What its smallest amount is in micros."""
    return int(10 ** (6 - digits(currency)))


def exact(picos: int) -> int:
    """Micros: millionths of them to the nearest one, whatever can be paid."""
    return round(Fraction(picos, MICROS))


def payable(picos: int, currency: str) -> int:
    """Micros: millionths of them rounded to what can be paid, halves to even."""
    unit = smallest(currency)
    return round(Fraction(picos, unit * MICROS)) * unit


def is_payable(micros: int, currency: str) -> bool:
    return micros % smallest(currency) == 0


def amount(micros: int, currency: str) -> str:
    """`1,234.50`; as many places as it takes where the amount is finer than can be paid."""
    places = digits(currency)
    while places < 6 and micros % 10 ** (6 - places):
        places += 1
    return f"{to_decimal(micros):,.{places}f}"


def text(micros: int, currency: str) -> str:
    """`1,234.50 EUR`"""
    return f"{amount(micros, currency)} {currency}"
