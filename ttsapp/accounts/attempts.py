"""How often passwords and codes may be guessed: in the database, so that it holds everywhere."""

from __future__ import annotations

import ipaddress
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from ttsapp.console.models import SignInAttempt

WINDOW = timedelta(minutes=15)
# Guesses at one name from one address, and at any names from one address. A name alone has no
# limit, or a stranger could lock its owner out.
MOST_OF_NAME, MOST_OF_ADDRESS = 5, 30
# Guesses at one person's codes, from anywhere: whoever gets to guess at them has the password.
MOST_OF_CODES = 5
CODES = "codes of "


def admits_password(name: str, address: str) -> bool:
    """Notes a guess before the password is looked at: guesses at the same time count too."""
    name, address = _kept(name), network(address)
    attempt = _note(name, address)
    found = _recent().filter(address=address)
    of_name = found.filter(username=name).count()
    return _judged(attempt, of_name <= MOST_OF_NAME and found.count() <= MOST_OF_ADDRESS)


def forget_passwords(name: str, address: str) -> None:
    """After the right one."""
    SignInAttempt.objects.filter(username=_kept(name), address=network(address)).delete()


def admits_code(username: str) -> bool:
    """The same for the second factor."""
    name = _kept(f"{CODES}{username}")
    attempt = _note(name, "")
    return _judged(attempt, _recent().filter(username=name).count() <= MOST_OF_CODES)


def forget_codes(username: str) -> None:
    SignInAttempt.objects.filter(username=_kept(f"{CODES}{username}")).delete()


def network(address: str) -> str:
    """Who has an IPv6 address has all 2**64 of its network: they count as one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:50]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def _judged(attempt: SignInAttempt, is_admitted: bool) -> bool:
    if not is_admitted:
        attempt.delete()
    return is_admitted


def _note(username: str, address: str) -> SignInAttempt:
    now = timezone.now()
    SignInAttempt.objects.filter(at__lt=now - WINDOW).delete()
    return SignInAttempt.objects.create(at=now, username=username, address=address)


def _recent() -> QuerySet[SignInAttempt]:
    return SignInAttempt.objects.filter(at__gte=timezone.now() - WINDOW)


def _kept(name: str) -> str:
    return name.casefold()[:150]
