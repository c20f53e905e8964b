"""From a text to what is spoken, and back to its characters."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttsapp.errors import ApiError
from ttsapp.speech.text.lexicon import Entry, compiled
from ttsapp.speech.text.prepare import Markup, Prepared, TextOptions, prepare

ENGLISH = TextOptions(language="en")


def spoken(prepared: Prepared) -> list[tuple[int, float, str]]:
    return [(each.pause_ms, each.rate, each.text) for each in prepared.segments]


def ssml(text: str, **options: object) -> Prepared:
    return prepare(text, TextOptions(language="en", markup=Markup.SSML, **options))  # type: ignore[arg-type]


def refusal(text: str, markup: Markup = Markup.SSML) -> str:
    with pytest.raises(ApiError) as caught:
        prepare(text, TextOptions(language="en", markup=markup))
    assert (caught.value.status, caught.value.code) == (400, "invalid_markup")
    assert caught.value.field == "input"
    return caught.value.message


def test_it_works() -> None:
    found = prepare("Hello  “there”. 😀", ENGLISH)
    assert spoken(found) == [(0, 1.0, 'Hello "there".')]
    assert (found.characters, found.language) == (17, "en")
    assert found.segments[0].mapped.range(6, 13) == (7, 14)


def test_a_silent_text_has_no_segments() -> None:
    assert prepare("😀 …", ENGLISH).segments == ()


def test_numbers_only_when_asked_for() -> None:
    assert spoken(prepare("5 cats.", ENGLISH)) == [(0, 1.0, "5 cats.")]
    asked = TextOptions(language="en", is_normalised=True)
    assert spoken(prepare("5 cats.", asked)) == [(0, 1.0, "five cats.")]


def test_long_words_for_numbers_are_cut_again() -> None:
    asked = TextOptions(language="en", is_normalised=True, limit=60)
    found = prepare("It costs $1,234,567.89 or $9,876,543.21 in all.", asked)
    assert all(len(each.text.strip()) <= 60 for each in found.segments)
    assert "".join(each.text for each in found.segments).endswith("in all.")
    assert found.segments[-1].end == 47


def test_the_voice_language_where_the_text_does_not_tell() -> None:
    german = TextOptions(default_language="german", is_normalised=True)
    assert spoken(prepare("5.", german)) == [(0, 1.0, "fünf.")]
    assert prepare("Il fait très beau aujourd'hui.", german).language == "fr"
    assert prepare("今天天气很好。", german).language == "zh"


def test_lexicon_comes_before_numbers() -> None:
    entries = [
        Entry("5G", "five gee"),
        Entry("nginx", "engine x"),
        Entry("IT", "eye tee", "", True),
    ]
    lexicon = compiled(entries, "en", 1)
    options = TextOptions(language="en", is_normalised=True, lexicon=lexicon)
    found = prepare("NGINX over 5G at 5, and it is IT.", options)
    assert spoken(found) == [(0, 1.0, "engine x over five gee at five, and it is eye tee.")]
    assert found.segments[0].mapped.range(0, 8) == (0, 5)


def test_lexicon_without_numbers() -> None:
    options = TextOptions(language="en", lexicon=compiled([Entry("SQL", "sequel")], "en", 1))
    assert spoken(prepare("SQL, MySQL 5", options)) == [(0, 1.0, "sequel, MySQL 5")]


def test_a_language_of_its_own_wins() -> None:
    entries = [Entry("Paris", "Pariss", "en"), Entry("Paris", "Pari"), Entry("Rom", "Roma", "it")]
    assert compiled(entries, "en", 1).folded == {"paris": "Pariss"}
    assert compiled(entries, "fr", 1).folded == {"paris": "Pari"}


def test_pause_tags() -> None:
    options = TextOptions(language="en", markup=Markup.PAUSES)
    found = prepare('One. [pause 700ms]Two <break time="1.5s"/>three. [pause]', options)
    assert spoken(found) == [(0, 1.0, "One. "), (700, 1.0, "Two "), (1500, 1.0, "three. ")]
    assert found.final_pause_ms == 500
    assert found.characters == len("One. Two three. ")


def test_tags_are_text_unless_asked_for() -> None:
    assert spoken(prepare("a [pause 1s] b", ENGLISH)) == [(0, 1.0, "a [pause 1s] b")]


def test_ssml() -> None:
    text = (
        '<speak>Tom &amp; Jo. <break time="1s"/>Call '
        '<say-as interpret-as="digits">42</say-as>. '
        '<prosody rate="slow">Slow.</prosody> '
        '<sub alias="World Wide Web">WWW</sub></speak>'
    )
    found = ssml(text)
    assert spoken(found) == [
        (0, 1.0, "Tom & Jo. "),
        (1000, 1.0, "Call four two. "),
        (0, 0.75, "Slow."),
        (0, 1.0, " World Wide Web"),
    ]
    last = found.segments[-1].mapped
    assert [text[slice(*last.range(1, 6))], text[slice(*last.range(7, 15))]] == [
        "WWW",
        "WWW",
    ]
    # All but the tags: an entity is five characters of the text, an alias counts as it is spoken.
    assert found.characters == len("Tom &amp; Jo. Call 42. Slow. World Wide Web")


def test_ssml_readings() -> None:
    said = {
        "characters": "A B one",
        "digits": "one",
        "cardinal": "one",
        "ordinal": "first",
    }
    for reading, words in said.items():
        found = ssml(f'<speak><say-as interpret-as="{reading}">AB1</say-as></speak>')
        assert found.segments[0].text == words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("9①", "nine one"),
        ("9²", "nine two"),
        ("4 ①", "four, one"),
        ("①", "one"),
        ("٤ 2", "four, two"),
    ],
)
def test_ssml_digits_of_any_shape(written: str, words: str) -> None:
    found = ssml(f'<speak><say-as interpret-as="digits">{written}</say-as></speak>')
    assert found.segments[0].text == words
    assert found.segments[0].mapped.range(0, len(words)) == (37, 37 + len(written))


@pytest.mark.parametrize("reading", ["characters", "spell-out"])
def test_ssml_characters_of_any_shape(reading: str) -> None:
    found = ssml(f'<speak><say-as interpret-as="{reading}">a①²</say-as></speak>')
    assert found.segments[0].text == "A one two"


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ("<![CDATA[& b]]>", "& b"),
        ("a<![CDATA[&]]>", "a&"),
        ("<![CDATA[&amp;]]> &amp; c;", "&amp; & c;"),
        ("<![CDATA[a\n&\n&]]>", "a\n&\n&"),
    ],
)
def test_ssml_says_what_is_in_cdata_as_it_stands(inner: str, words: str) -> None:
    found = ssml(f"<speak>{inner}</speak>")
    assert found.segments[0].text == words


def test_ssml_keeps_the_place_of_what_is_in_cdata() -> None:
    text = "<speak>é<![CDATA[& b]]></speak>"
    found = ssml(text).segments[0].mapped
    assert (found.text, text[slice(*found.range(1, 4))]) == ("é& b", "& b")


def test_ssml_replaces_what_is_in_cdata() -> None:
    found = ssml('<speak><sub alias="and"><![CDATA[&]]></sub></speak>')
    assert found.segments[0].text == "and"


def test_ssml_normalises_across_entities() -> None:
    assert ssml("<speak>A &amp; B</speak>", is_normalised=True).segments[0].text == "A and B"


def test_ssml_sentences_are_kept_apart() -> None:
    found = ssml("<speak><p>A title</p><p>A text</p></speak>", limit=20)
    assert [each.text for each in found.segments] == ["A title\n\nA text\n\n"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "character 1: This is not valid SSML (no element found)"),
        ("Hi", "character 1: This is not valid SSML (syntax error)"),
        ("<speak>Hi", "character 10: This is not valid SSML (no element found)"),
        ("<speak>Tom & Jo</speak>", "character 13: This is not valid SSML"),
        ("<speak>é<b/></speak>", "character 9: <b> is not offered: use speak, p, s, break"),
        (
            "<speak>Hi <phoneme ph='x'>a</phoneme></speak>",
            "character 11: <phoneme> is not offered: the voice reads words, not phonemes",
        ),
        ("<speak><voice name='a'>x</voice></speak>", "choose the voice in the request"),
        ("<speak>a<sub>b</sub></speak>", 'character 9: <sub> needs alias="…".'),
        ("<speak><prosody pitch='1'>x</prosody></speak>", "<prosody> has no attribute 'pitch'"),
        ("<speak><prosody rate='900%'>x</prosody></speak>", "rate '900%': write 25% to 400%"),
        ("<speak><break time='x'/></speak>", "'x' is no time: write 500ms or 0.5s."),
        ("<speak><break time='11s'/></speak>", "A pause may have 10 s at most."),
        ("<speak><break strength='x'/></speak>", "strength 'x' is unknown"),
        ("<speak><say-as interpret-as='x'>1</say-as></speak>", "interpret-as 'x' is unknown"),
        ("<speak><sub alias='x'><s>1</s></sub></speak>", "<sub> holds no other tags"),
        ("<speak><speak>x</speak></speak>", "One <speak> holds the whole text."),
        ("<p>x</p>", "SSML begins with <speak>."),
        ("<!DOCTYPE x><speak>x</speak>", "Leave the document type out."),
        ("<?x y?><speak>x</speak>", "Leave processing instructions out."),
        ("<speak>" + "<p>" * 30, "Tags may be nested 20 deep."),
        ("<speak>&nbsp;</speak>", "This is not valid SSML"),
    ],
)
def test_bad_ssml_says_where_and_what_to_do(text: str, message: str) -> None:
    assert message in refusal(text)


def test_a_bad_pause_says_where() -> None:
    message = refusal("Wait [pause soon] now", Markup.PAUSES)
    assert message == "input, character 6: 'soon' is no time: write 500ms or 0.5s."


@pytest.mark.parametrize(
    "tag",
    ['<break tim="1s"/>', "<break time=1s>", '<BREAK strength="weak" />', "</break>", "<break/ >"],
)
def test_a_break_that_is_none_is_not_read_aloud(tag: str) -> None:
    message = refusal(f"Wait {tag} now", Markup.PAUSES)
    assert message == f'input, character 6: {tag!r} is not offered here: <break time="1s"/> is.'


@pytest.mark.parametrize("text", ["a <breakfast> b", "a <break-dance> b", "a <break b", "<b>a</b>"])
def test_what_is_no_break_is_text(text: str) -> None:
    found = prepare(text, TextOptions(language="en", markup=Markup.PAUSES))
    assert spoken(found) == [(0, 1.0, text)]


def test_a_break_may_be_closed() -> None:
    options = TextOptions(language="en", markup=Markup.PAUSES)
    found = prepare('One <break time="1s"></break>two.', options)
    assert spoken(found) == [(0, 1.0, "One "), (1000, 1.0, "two.")]
    assert found.characters == len("One two.")


@given(st.text(max_size=120), st.booleans(), st.sampled_from(["en", "de", "fr", "es", "zh", "ja"]))
def test_every_segment_knows_its_place(text: str, is_normalised: bool, language: str) -> None:
    options = TextOptions(language=language, is_normalised=is_normalised, limit=40)
    found = prepare(text, options)
    for segment in found.segments:
        assert 0 <= segment.start < segment.end <= len(text)
        assert len(segment.text) == len(segment.mapped.starts)
    starts = [segment.start for segment in found.segments]
    assert starts == sorted(starts)


@given(st.text(alphabet="<>/&;speak b='\"5s", max_size=60))
def test_odd_ssml_is_refused_or_read(text: str) -> None:
    with suppress(ApiError):
        ssml(f"<speak>{text}</speak>")


@pytest.mark.parametrize(
    ("language", "reading", "written", "spoken"),
    [
        ("en", 'interpret-as="telephone"', "911", "nine one one"),
        (
            "en",
            'interpret-as="telephone"',
            "+1 555-0100",
            "plus one, five five five, zero one zero zero",
        ),
        ("en", 'interpret-as="telephone"', "1-800-FLOWERS", "one, eight zero zero, FLOWERS"),
        ("zh", 'interpret-as="telephone"', "110", "一一零"),
        ("en", 'interpret-as="date" format="dmy"', "3/4/24", "April third, twenty twenty-four"),
        ("en", 'interpret-as="date" format="mdy"', "3/4/24", "March fourth, twenty twenty-four"),
        (
            "de",
            'interpret-as="date" format="mdy"',
            "3/4/2024",
            "vierter März zweitausendvierundzwanzig",
        ),
        ("zh", 'interpret-as="date" format="dmy"', "3/4/2024", "二零二四年四月三日"),
        ("en", 'interpret-as="verbatim"', "AB", "A B"),
    ],
)
def test_telephones_and_dates_as_they_are_said_to_be(
    language: str, reading: str, written: str, spoken: str
) -> None:
    text = f"<speak><say-as {reading}>{written}</say-as></speak>"
    options = TextOptions(language=language, markup=Markup.SSML)
    assert [segment.text for segment in prepare(text, options).segments] == [spoken]


def test_a_date_in_an_order_that_there_is_not() -> None:
    text = '<speak><say-as interpret-as="date" format="yyyy">1</say-as></speak>'
    with pytest.raises(ApiError, match="format 'yyyy' is unknown"):
        prepare(text, TextOptions(markup=Markup.SSML))
