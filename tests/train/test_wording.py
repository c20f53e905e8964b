"""What is said about a voice is true of it, and fits what the shipped vocabulary spells."""

from itertools import product
from random import Random

import pytest

from gpu_engine.config import read_config
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.train.commands.common import ASSETS
from gpu_engine.train.corpora.wording import Traits, description, instruction, wording

OLD_WOMAN = Traits("female", "old", "low", "british", "slow", "soft")
VALUES = {
    "sex": ("female", "male"),
    "age": ("child", "young", "grown", "old"),
    "pitch": ("low", "middle", "high"),
    "accent": ("american", "british"),
    "tempo": ("slow", "usual", "fast"),
    "energy": ("soft", "usual", "loud"),
}


def phrases(trait, value):
    """Every phrase that says it, in lower case."""
    words = wording()
    found = list(words["tags"][trait][value]) + list(words["rest"].get(trait, {}).get(value, []))
    if trait == "sex":
        found += [noun for nouns in words["who"].values() for noun in nouns[value]]
    if trait == "age":
        found += [noun for nouns in words["who"][value].values() for noun in nouns]
    return {phrase.lower() for phrase in found} | ({value} if trait == "accent" else set())


def says(text, trait, value, short=False):
    """`short`: also as a field's value, where "low energy" is "energy: low"."""
    words = f" {text.lower().replace(',', ' ').replace('.', ' ').replace(':', ' ')} "
    said = phrases(trait, value)
    if short:
        said |= {phrase.removesuffix(" energy").removesuffix(" pace") for phrase in said}
    return any(f" {phrase} " in words for phrase in said)


def test_it_works():
    texts = {description(OLD_WOMAN, Random(seed)) for seed in range(300)}
    assert len(texts) > 250
    for text in texts:
        # then what is not as usual is always said, and never the opposite
        assert says(text, "tempo", "slow", short=True), text
        assert says(text, "energy", "soft", short=True), text
        assert says(text, "age", "old"), text
        assert not says(text, "tempo", "fast"), text
        assert not says(text, "energy", "loud"), text
        assert not says(text, "sex", "male"), text
        assert not says(text, "accent", "american"), text


def test_nothing_is_said_of_what_nobody_knows():
    unknown = Traits()
    for seed in range(200):
        text = description(unknown, Random(seed))
        for trait in ("sex", "accent", "pitch"):
            assert not any(says(text, trait, value) for value in VALUES[trait]), text


def test_everything_can_be_said():
    texts = [
        description(Traits(*each), Random(number))
        for number, each in enumerate(list(product(*VALUES.values())) * 3)
    ]
    for trait, values in VALUES.items():
        for value in values:
            assert any(says(text, trait, value) for text in texts), (trait, value)
    assert not any("{" in text or "  " in text or not text for text in texts)


@pytest.mark.parametrize("tempo", VALUES["tempo"])
@pytest.mark.parametrize("energy", VALUES["energy"])
def test_an_instruction_says_what_is_unusual(tempo, energy):
    manner = wording()["manner"]
    for seed in range(60):
        text = instruction(Traits(tempo=tempo, energy=energy), Random(seed)).lower()
        for trait, value in (("tempo", tempo), ("energy", energy)):
            said = any(phrase in text for phrase in manner[trait][value])
            assert said or value == "usual", text
        opposite = {"slow": "fast", "fast": "slow"}.get(tempo)
        assert opposite is None or not any(p in text for p in manner["tempo"][opposite]), text


def test_the_same_seed_says_the_same():
    assert description(OLD_WOMAN, Random(4)) == description(OLD_WOMAN, Random(4))


def test_held_out_frames_are_never_trained_on():
    for kind in ("instructions", "descriptions"):
        frames = wording()[kind]
        assert not set(frames["trained"]) & set(frames["held_out"])
    trained = {description(OLD_WOMAN, Random(seed)) for seed in range(500)}
    held = {description(OLD_WOMAN, Random(seed), held_out=True) for seed in range(500)}
    assert not trained & held


def test_the_shipped_vocabulary_spells_them_in_few_tokens():
    tokenizer = TextTokenizer(ASSETS, read_config(ASSETS).text_ids)
    everything = [Traits(*each) for each in product(*VALUES.values())]
    rng = Random(1)
    lengths = [len(tokenizer.wrap_instruction(description(each, rng))) for each in everything]
    assert max(lengths) < 80
    assert sum(lengths) / len(lengths) < 40
    assert max(len(tokenizer.wrap_instruction(instruction(t, rng))) for t in everything) < 40
    # and the turn's name is one token, as the prompt's wrapper counts on
    assert len(tokenizer.encode("user\n")) == 2
