"""A tenant's own words, kept by its people."""

from __future__ import annotations

import re

import pytest
from django.conf import settings

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.lexicon import services
from ttsapp.lexicon.models import Word

PAGE = "/console/alice/pronunciations"
SQL = {"word": "SQL", "alias": "sequel", "language": "en", "is_case_sensitive": "on"}


@pytest.fixture
def word(alice: Party) -> Word:
    return services.add_word(SYSTEM, alice.tenant, "GIF", "jif")


def test_it_works(sign_in: SignIn, alice: Party) -> None:
    client = sign_in("developer")
    assert client.post(PAGE, SQL).status_code == 302
    made = Word.objects.get()
    client.post(f"{PAGE}/{made.pk}", {"alias": "S Q L"})
    shown = client.get(PAGE).content.decode()

    assert (
        '<th scope="row">SQL</th><td class="wrap">S Q L</td><td>English</td><td>any</td>' in shown
    )
    assert client.get(f"{PAGE}.csv").content.decode().splitlines()[1].startswith("SQL,S Q L,en,")
    client.post(f"{PAGE}/{made.pk}/remove")
    assert not Word.objects.exists()
    done = AuditEntry.objects.filter(tenant=alice.tenant, action__startswith="word.")
    assert [entry.action for entry in done.order_by("sequence")] == [
        *("word.added", "word.changed", "word.removed"),
    ]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"word": "GIF", "alias": "gif"}, "It is there already for that language"),
        ({"word": "!", "alias": "gif"}, "Write at least one letter or digit."),
        ({"word": "PNG", "alias": "a\nb"}, "Write it on one line."),
        ({"word": "PNG", "alias": "ping", "language": "xx"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_said_is_refused(
    sign_in: SignIn, word: Word, fields: dict[str, str], problem: str
) -> None:
    response = sign_in("alice").post(PAGE, fields)
    assert response.status_code == 400
    assert problem in response.content.decode()
    assert list(Word.objects.all()) == [word]


def test_a_full_lexicon_says_so(
    sign_in: SignIn, word: Word, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "LEXICON_WORDS", 1)
    response = sign_in("alice").post(PAGE, SQL)
    assert "A lexicon may have 1 words: remove one first." in response.content.decode()


def test_a_change_that_is_refused_keeps_the_word(sign_in: SignIn, word: Word) -> None:
    response = sign_in("alice").post(f"{PAGE}/{word.pk}", {"alias": "?"})
    assert response.status_code == 400
    page = response.content.decode()
    assert "Write at least one letter or digit." in page
    ids = re.findall(r' id="(id_\w+)"', page)
    assert len(ids) == len(set(ids))
    word.refresh_from_db()
    assert word.alias == "jif"


def test_words_are_found_by_what_is_said(sign_in: SignIn, word: Word, alice: Party) -> None:
    services.add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    found = sign_in("viewer").get(f"{PAGE}?q=JIF").context["words"]
    assert [row.word for row, _ in found] == ["GIF"]


def test_anothers_words_are_not_there(sign_in: SignIn, word: Word, mallory: Party) -> None:
    client = sign_in("mallory")
    own = PAGE.replace("alice", "mallory")
    assert client.post(f"{own}/{word.pk}/remove").status_code == 404
    assert client.get(own).context["words"] == []
    assert Word.objects.get() == word
