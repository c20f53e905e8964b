"""A text's characters are shared out among what is spoken, and no more is ever charged."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rating import Outcome, Part, billed_characters, expected_ms
from ttsapp.speech.text.markup import Markup
from ttsapp.speech.text.prepare import Prepared, TextOptions, prepare

LIMIT = 30


def ssml(body: str) -> Prepared:
    options = TextOptions(language="en", markup=Markup.SSML, limit=LIMIT, is_normalised=True)
    return prepare(f"<speak>{body}</speak>", options)


def shares(found: Prepared) -> list[tuple[str, int]]:
    return [(segment.text, segment.characters) for segment in found.segments]


def test_an_alias_is_charged_by_what_is_spoken_and_shared_by_its_parts() -> None:
    found = ssml('<sub alias="One thing is told here. Then one more is.">a</sub>')
    assert found.characters == 41
    assert shares(found) == [("One thing is told here. ", 24), ("Then one more is.", 17)]


def test_an_alias_that_is_shorter_than_its_words() -> None:
    assert ssml('Hi <sub alias="W">World Wide Web</sub>.').characters == len("Hi World Wide Web.")


def test_an_alias_in_place_of_nothing() -> None:
    assert ssml('Hi <sub alias="there"></sub>.').characters == len("Hi there.")


def test_a_long_alias_and_a_short_one_are_counted_together() -> None:
    body = '<sub alias="W">World Wide Web</sub> <sub alias="Ampere">A</sub>'
    assert ssml(body).characters == max(len("World Wide Web A"), len("W Ampere"))


def test_words_for_a_number_that_are_cut_share_its_digits() -> None:
    found = ssml("123456789123")
    assert len(found.segments) > 1
    assert sum(segment.characters for segment in found.segments) == 12


def test_what_is_silent_belongs_to_what_is_spoken_before_it() -> None:
    options = TextOptions(language="en", markup=Markup.PAUSES)
    found = prepare("One. [pause] ... [pause] Two.", options)
    assert shares(found) == [("One. ", 10), (" Two.", 5)]
    assert found.characters == 15


WRITTEN = st.text(st.sampled_from("ab. ,!?1234$%\u00e9\u4f60\u3002\n\u00bd"), max_size=60)
_ELEMENTS = st.one_of(
    WRITTEN.map(escape),
    st.builds(
        lambda alias, words: f"<sub alias={quoteattr('x' + alias)}>{escape(words)}</sub>",
        WRITTEN,
        WRITTEN,
    ),
    st.builds("<prosody rate='50%'>{}</prosody>".format, WRITTEN.map(escape)),
    st.sampled_from(["<break time='1s'/>", "<p>One. Two.</p>", "A &amp; B"]),
    st.builds("<say-as interpret-as='digits'>{}</say-as>".format, WRITTEN.map(escape)),
)
BODIES = st.lists(_ELEMENTS, max_size=8).map("".join)


@pytest.mark.parametrize("markup", [Markup.NONE, Markup.PAUSES, Markup.SSML])
@given(body=BODIES, is_normalised=st.booleans())
def test_the_parts_are_the_whole(markup: Markup, body: str, is_normalised: bool) -> None:
    text = f"<speak>{body}</speak>"
    options = TextOptions(language="en", markup=markup, limit=LIMIT, is_normalised=is_normalised)
    found = prepare(text, options)
    parts = [segment.characters for segment in found.segments]
    assert all(characters >= 0 for characters in parts)
    assert sum(parts) == (found.characters if parts else 0)
    assert found.characters <= len(text)


@given(body=BODIES, data=st.data())
def test_no_delivery_is_charged_beyond_the_text(body: str, data: st.DataObject) -> None:
    found = ssml(body)
    times = st.integers(0, 10_000)
    parts = [
        Part(
            segment.characters,
            expected_ms(segment.text),
            data.draw(times),
            data.draw(st.none() | times),
        )
        for segment in found.segments
    ]
    charged = billed_characters(Outcome.CANCELLED, found.characters, parts)
    assert 0 <= charged <= found.characters


def test_the_charge_is_capped_whatever_the_parts_say() -> None:
    parts = [Part(10, 650, 9999), Part(10, 650, 9999)]
    assert billed_characters(Outcome.CANCELLED, 12, parts) == 12
