"""The text of a key: what a typo, a swap or a stranger's string looks like."""

from __future__ import annotations

import hashlib
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttsapp.keys.secrets import PATTERN, mint, parse

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
KEY = mint("live")


def test_it_works() -> None:
    key = mint("live")
    assert parse(key.full) == key
    assert PATTERN.fullmatch(key.full)
    assert key.secret_hash == hashlib.sha256(key.secret.encode()).digest()
    assert key.last_four == key.full[-4:]


def test_no_two_keys_are_alike() -> None:
    assert len({mint("live").full for _ in range(100)}) == 100


@settings(max_examples=300)
@given(place=st.integers(len("parl_live_"), len(KEY.full) - 1), other=st.sampled_from(ALPHABET))
def test_every_wrong_character_is_found(place: int, other: str) -> None:
    typo = KEY.full[:place] + other + KEY.full[place + 1 :]
    assert parse(typo) == (KEY if typo == KEY.full else None)


@pytest.mark.parametrize(
    "text",
    ["", "parl_", KEY.full + "x", KEY.full[:-1], KEY.full.upper(), " " + KEY.full, KEY.full + "\n"],
    ids=["empty", "prefix", "longer", "shorter", "upper", "space", "newline"],
)
def test_what_is_no_key(text: str) -> None:
    assert parse(text) is None


def test_an_unknown_environment_is_no_key() -> None:
    assert parse(KEY.full.replace("live", "prod")) is None
