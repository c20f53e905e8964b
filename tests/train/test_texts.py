"""Many texts from few: distinct, deterministic, spoken as they are written, far from the tests."""

import gzip
import json
from collections import Counter

import pytest

from gpu_engine.train.cli import main
from gpu_engine.train.holdout import held_out, key
from gpu_engine.train.sentences import (
    EDGES,
    Avoid,
    Pool,
    parse,
    shape,
    spoken,
    with_articles,
    written,
)
from gpu_engine.train.texts import Shares, TextMaker

NAMES = ["Maria", "Theo", "Alice", "Bob", "Nadia", "Oscar", "Priya", "Walter", "Yuki", "Zoe"]
PLACES = ["harbor", "library", "station", "bakery", "museum", "garden"]
SAID = [
    ("Your train leaves at 9:05 from here.", "Your train leaves at nine oh five from here."),
    (
        "Tickets are $12.50 at the museum.",
        "Tickets are twelve dollars and fifty cents at the museum.",
    ),
    ("About 40% of us were late.", "About forty percent of us were late."),
]
PLAIN = [
    frame.format(name, place)
    for frame in (
        "{0} walked to the {1} before it closed.",
        "The {1} was painted by {0} in the spring.",
        "Nobody knew why {0} had left the {1} so early.",
    )
    for name in NAMES
    for place in PLACES
]
SEEDS = [*zip(PLAIN, PLAIN, strict=True), *SAID]
LEXICON = [
    "lantern", "copper", "violet", "thistle", "marble", "saffron", "walked", "painted", "Geneva",
]  # fmt: skip


def made(count=1500, seed=1, avoid=(), **shares):
    chosen = Shares(**dict.fromkeys(Shares.__slots__, 0.0) | shares) if shares else None
    return list(TextMaker(SEEDS, LEXICON, avoid, seed).make(count, chosen))


def fresh(texts):
    seeds = {seed[0] for seed in SEEDS}
    return [text for text in texts if text.written not in seeds]


def test_it_works():
    # given 183 sentences and a few more words, ten times as many are wanted
    texts = made(1830)
    # then there are so many, no two with the same words, the seeds among them
    assert len(texts) == 1830
    assert len({key(text.spoken) for text in texts}) == 1830
    assert {seed[0] for seed in SEEDS} <= {text.written for text in texts}
    # and every word of the lexicon occurs often
    counts = Counter(word for text in texts for word in key(text.spoken).split())
    assert min(counts[word.lower()] for word in LEXICON) >= 10


def test_the_same_seed_makes_the_same_texts():
    assert made(600) == made(600)
    assert made(600) != made(600, seed=2)


def test_numbers_are_drawn_anew_and_said_as_they_are_written():
    texts = [text for text in fresh(made(600, number=1.0)) if text.written != text.spoken]
    assert len(texts) > 100
    for text in texts:
        for unit in parse(text.written, text.spoken):
            assert not any(character.isdigit() for character in unit.spoken)
    prices = {text.written for text in texts if "$" in text.written}
    assert len(prices) > 20


def test_held_out_sentences_are_whole_and_nothing_made_is_held_out():
    texts = made(1500)
    held = [text for text in texts if held_out(text.written)]
    assert held
    seeds = {seed[0] for seed in SEEDS}
    assert all(text.written in seeds for text in held)


def test_nothing_comes_near_what_is_to_be_avoided():
    # given a test sentence that the seeds could be joined to
    test = "Maria walked to the museum before it closed."
    texts = made(1500, avoid=[test])
    assert test not in {text.written for text in texts}
    near = Avoid([test])
    assert not any(text.written in near or text.spoken in near for text in texts)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("the ferry had barely left the pier!", True),
        ("We said that the ferry had barely left the pier then.", True),
        ("A ferry barely left some other pier.", True),
        ("The ferry was late.", False),
        ("No, the ladder is over there.", False),
        ("No!", True),
    ],
)
def test_nearness(text, near):
    assert (text in Avoid(["The ferry had barely left the pier.", "No."])) is near


def test_sentences_are_joined_at_function_words():
    one, two = "Maria walked to the harbor before it closed.", "We stayed before the storm."
    splices = Shares(**dict.fromkeys(Shares.__slots__, 0.0) | {"splice": 1.0})
    texts = {key(text.written) for text in TextMaker([(one, one), (two, two)]).make(60, splices)}
    assert {
        "maria walked to the harbor before the storm",
        "maria walked to the storm",
        "we stayed before it closed",
    } <= texts


def test_letters_are_spelled():
    texts = fresh(made(300, spell=1.0))
    marble = next(text for text in texts if "marble" in text.written.lower())
    assert marble.written.endswith("M, A, R, B, L, E.")
    assert marble.spoken.endswith("M, ay, R, B, L, E.")


def test_capitals_are_said_letter_by_letter():
    texts = [text for text in fresh(made(400, initials=1.0)) if text.written != text.spoken]
    assert len(texts) > 100
    for text in texts:
        pairs = [unit for unit in parse(text.written, text.spoken) if unit.written != unit.spoken]
        (short,) = (unit for unit in pairs if unit.core.isupper())
        said = short.spoken.strip(EDGES).replace("ay", "A")
        assert said == " ".join(short.core)


def test_units_pair_what_is_written_with_what_is_said():
    units = parse("At 2:15 p.m. we left.", "At two fifteen p.m. we left.")
    assert [(unit.written, unit.spoken) for unit in units][:2] == [
        ("At", "At"),
        ("2:15", "two fifteen"),
    ]
    assert written(units) == "At 2:15 p.m. we left."
    assert spoken(units) == "At two fifteen p.m. we left."


def test_words_of_one_shape_stand_in_for_each_other():
    assert shape("walking") == shape("painting") != shape("walked")
    assert shape("Geneva") != shape("geneva")
    pool = Pool(["walking", "painting", "copper"])
    assert {pool.draw("aing"), pool.draw("aing")} == {"walking", "painting"}
    assert "aer" not in pool


def test_articles_agree():
    assert written(
        with_articles(parse("an lantern and a amber bead", "an lantern and a amber bead"))
    ) == ("a lantern and an amber bead")


def test_seeds_without_a_sentence_are_refused():
    with pytest.raises(ValueError, match="no seed has 3 words"):
        TextMaker([("No.", "No.")])


def shout(text):
    return text.upper()


def test_the_command_writes_lines_that_a_corpus_reads(tmp_path):
    seeds, words, avoid = (tmp_path / name for name in ("seeds.jsonl", "words", "avoid"))
    rows = [{"text": text, "spoken": said} for text, said in SEEDS]
    seeds.write_text("\n".join(map(json.dumps, rows)))
    words.write_text("\n".join(LEXICON))
    avoid.write_text("Maria walked to the museum before it closed.\tmaria walked")
    out = tmp_path / "texts.jsonl.gz"
    command = ["texts", str(seeds), "--out", str(out), "--count", "250", "--words", str(words)]
    assert (
        main([*command, "--avoid", str(avoid), "--phonemes", "json:dumps", "--workers", "1"]) == 0
    )
    lines = list(map(json.loads, gzip.decompress(out.read_bytes()).decode().splitlines()))
    assert len(lines) == 250
    for line in lines:
        assert json.loads(line["phonemes"]) == line.get("spoken", line["text"])
        assert line["text"] != line.get("spoken")


def test_the_command_ends_when_its_minutes_are_over(tmp_path):
    (tmp_path / "seeds").write_text("\n".join(text for text, _ in SEEDS))
    command = ["texts", str(tmp_path / "seeds"), "--out", str(tmp_path / "texts.jsonl.gz")]
    assert main([*command, "--count", "250", "--minutes", "0"]) == 0
    assert gzip.decompress((tmp_path / "texts.jsonl.gz").read_bytes()).count(b"\n") == 1
