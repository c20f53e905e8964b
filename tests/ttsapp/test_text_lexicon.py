"""A tenant's own pronunciations: heard by that tenant alone, and within a second."""

from __future__ import annotations

import re

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.test import Client
from hypothesis import example, given
from hypothesis import strategies as st

from tests.ttsapp.conftest import PASSWORD, Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.lexicon.models import Version, Word
from ttsapp.lexicon.selectors import LEXICONS, Memory
from ttsapp.lexicon.services import add_word, change_word, remove_word
from ttsapp.speech.text.lexicon import Entry, Lexicon, compiled


def said(http: httpx.Client, party: Party, **fields: object) -> str:
    body = {"input": "We use SQL.", "language": "en", **fields}
    found = http.post("/v1/text/preview", json=body, headers=party.headers).json()
    return found["segments"][0]["text"]


def test_it_works(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    http.post("/v1/audio/speech", json=speech("We use SQL."), headers=alice.headers)
    assert engine.heard[0].start.text == "We use sequel."


def test_only_the_tenant_hears_it(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    add_word(SYSTEM, bob.tenant, "SQL", "squeal")
    assert [said(http, party) for party in (alice, bob, mallory)] == [
        "We use sequel.",
        "We use squeal.",
        "We use SQL.",
    ]


def test_changes_are_heard_within_a_second(http: httpx.Client, alice: Party) -> None:
    assert said(http, alice) == "We use SQL."
    row = add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    eventually(lambda: said(http, alice) == "We use sequel.")
    change_word(SYSTEM, row, "squeal", is_case_sensitive=False)
    eventually(lambda: said(http, alice) == "We use squeal.")
    remove_word(SYSTEM, row)
    eventually(lambda: said(http, alice) == "We use SQL.")


def test_it_can_be_left_out(http: httpx.Client, alice: Party) -> None:
    add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    assert said(http, alice, lexicon=False) == "We use SQL."


def test_languages(http: httpx.Client, alice: Party) -> None:
    add_word(SYSTEM, alice.tenant, "SQL", "es ku el", "de")
    assert said(http, alice) == "We use SQL."


def test_the_language_is_found_where_words_depend_on_it(http: httpx.Client, alice: Party) -> None:
    add_word(SYSTEM, alice.tenant, "SQL", "sequel", "en")
    assert said(http, alice, input="We use SQL every day.", language="auto") == (
        "We use sequel every day."
    )


def test_each_change_leaves_an_audit_row(alice: Party) -> None:
    row = add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    change_word(SYSTEM, row, "squeal", is_case_sensitive=True)
    remove_word(SYSTEM, row)
    rows = AuditEntry.objects.filter(action__startswith="word.").order_by("id")
    assert [(entry.action, entry.target, {**entry.detail, **entry.changes}) for entry in rows] == [
        ("word.added", "SQL", {"alias": "sequel", "language": ""}),
        ("word.changed", "SQL", {"alias": ["sequel", "squeal"]}),
        ("word.removed", "SQL", {"alias": "squeal"}),
    ]
    assert Version.objects.get(tenant=alice.tenant).number == 3


def test_a_full_lexicon(alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "LEXICON_WORDS", 1)
    add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    with pytest.raises(ApiError) as caught:
        add_word(SYSTEM, alice.tenant, "nginx", "engine x")
    assert caught.value.code == "lexicon_full"
    assert Word.objects.count() == 1
    assert Version.objects.get(tenant=alice.tenant).number == 1


def test_one_alias_for_a_word(alice: Party) -> None:
    add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    with pytest.raises(IntegrityError):
        add_word(SYSTEM, alice.tenant, "SQL", "squeal")


@pytest.mark.parametrize("word", ["", "...", "a\nb", "x" * 101])
def test_words_that_could_never_be_found(alice: Party, word: str) -> None:
    with pytest.raises(ValidationError):
        Word(tenant=alice.tenant, word=word, alias="x").full_clean()


def test_the_admin(alice: Party) -> None:
    User.objects.create_superuser("root", password=PASSWORD)
    browser = Client()
    browser.login(username="root", password=PASSWORD)
    form = {"tenant": alice.tenant.pk, "word": "SQL", "alias": "sequel", "language": ""}
    assert browser.post("/admin/lexicon/word/add/", form).status_code == 302
    row = Word.objects.get()
    browser.post(f"/admin/lexicon/word/{row.pk}/change/", {"alias": "squeal"})
    row.refresh_from_db()
    assert row.alias == "squeal"
    browser.post(f"/admin/lexicon/word/{row.pk}/delete/", {"post": "yes"})
    assert not Word.objects.exists()
    actors = set(AuditEntry.objects.filter(action__startswith="word.").values_list("actor"))
    assert actors == {("user:root",)}


def test_memory_is_bounded() -> None:
    memory = Memory()
    for tenant in range(LEXICONS + 10):
        memory.note_lexicon(tenant, "en", Lexicon(1))
    assert len(memory._lexicons) == LEXICONS


def test_an_old_version_is_not_used() -> None:
    memory = Memory()
    memory.note_lexicon(1, "en", Lexicon(1))
    assert memory.lexicon(1, "en", 2) is None


@given(
    words=st.lists(st.text("aB.京 ", min_size=1, max_size=4), min_size=1, max_size=8),
    text=st.text("aB.京 ", max_size=30),
)
@example(words=["a" * length for length in range(1, 101)], text="a" * 100)
def test_the_longest_word_is_found_at_each_place(words: list[str], text: str) -> None:
    """As by one word after the other, which takes longer the more there are."""
    found = compiled([Entry(word, f"<{word}>") for word in words], "en", 1)
    longest_first = "|".join(map(one_by_one, sorted(set(words), key=len, reverse=True)))
    plain = re.compile(longest_first, re.IGNORECASE)
    assert found.pattern is not None
    spans = [match.span() for match in found.pattern.finditer(text)]
    assert spans == [match.span() for match in plain.finditer(text)]


def one_by_one(word: str) -> str:
    before, after = (r"(?<!\w)", r"(?!\w)")
    starts, ends = (character in "aB" for character in (word[0], word[-1]))
    return f"{before if starts else ''}{re.escape(word)}{after if ends else ''}"
