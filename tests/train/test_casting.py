from collections import Counter
from random import Random

import pytest

from gpu_engine.train.corpora.casting import (
    PRESETS,
    SPEEDS,
    Cast,
    Casting,
    aged,
    described,
    design_voices,
    pace_of,
    pitch_word,
    told,
    traits_of,
)
from gpu_engine.train.corpora.wording import Traits
from tests.speech.unseen import UNSEEN

DESIGNS = ["af_nova", "am_echo", "0.5*bf_alice+0.5*bf_lily", "bm_lewis"]


def casts(count=2000, *, mixes=("0.5*af_heart+0.5*bm_george",), **shares):
    chosen = {"mixed": 0.2, "instructed": 0.0, "designed": 0.0} | shares
    casting, rng = Casting(mixes, DESIGNS, **chosen), Random(1)
    return [casting.draw(rng) for _ in range(count)]


def test_it_works():
    # when half of the lines go to designs, and half of the presets are told something
    drawn = casts(designed=0.5, instructed=0.5)
    kinds = Counter(who.speaker.partition("-")[0] for who in drawn)
    assert kinds[""] + kinds["design"] == pytest.approx(1000, abs=100)
    assert sum(who.is_told for who in drawn if who.speaker in PRESETS) == pytest.approx(400, abs=60)
    # then every manner is there, and whoever speaks otherwise than usual has been told so
    heard = {(who.traits.tempo, who.traits.energy) for who in drawn}
    assert heard == {(t, e) for t in ("slow", "usual", "fast") for e in ("soft", "usual", "loud")}
    assert all(who.is_told for who in drawn if not who.traits.is_usual)
    assert {who.traits.age for who in drawn} == {"", "child", "young", "grown", "old"}


def test_without_shares_nobody_is_told_anything():
    drawn = casts()
    assert not any(who.is_told for who in drawn)
    assert {who.speaker for who in drawn} == {*PRESETS, "mix-000"}
    assert {who.shape.size for who in drawn} == {1.0}


def test_speeds_are_those_of_the_tempo_that_is_said():
    for who in casts(designed=0.5, instructed=0.5):
        # a known speaker's by his own measure, a design's by all others'
        known = who.speaker in PRESETS or who.speaker.startswith("mix-")
        spoken = who.speed * who.shape.size * (1 if known else pace_of(who.voice))
        assert min(abs(spoken - speed) for speed in SPEEDS[who.traits.tempo]) < 1e-9
    slow, usual, fast = (SPEEDS[tempo] for tempo in ("slow", "usual", "fast"))
    assert max(slow) < min(usual)
    assert max(usual) < min(fast)


def test_who_is_aged_has_no_name():
    drawn = casts(designed=1.0)
    assert {bool(who.traits.age) for who in drawn if not who.speaker} == {True}
    assert {who.traits.age for who in drawn if who.speaker} == {""}
    assert {who.shape.tremor for who in drawn if who.traits.age == "old"} == {True}


def test_children_have_womens_voices_and_either_sex():
    children = [who for who in casts(designed=1.0) if who.traits.age == "child"]
    assert {traits_of(who.voice).sex for who in children} == {"female"}
    assert {who.traits.sex for who in children} == {"female", "male"}


def test_an_age_leaves_the_tempo_and_the_effort():
    nova = Cast("design-000", "af_nova", 1.0, traits=traits_of("af_nova"))
    who = told(nova, "slow", "soft", Random(1))
    old = aged(who, "old", Random(1))
    assert old.speed * old.shape.size == pytest.approx(who.speed)
    assert old.shape.gain == who.shape.gain
    assert old.shape.tilt < who.shape.tilt


@pytest.mark.parametrize(
    ("voice", "sex", "accent"),
    [
        ("bf_emma", "female", "british"),
        ("0.25*am_puck+0.75*am_adam", "male", "american"),
        ("0.5*af_heart+0.5*bf_emma", "female", ""),
        ("0.5*af_heart+0.5*am_puck", "", "american"),
        ("0.5*af_heart+0.5*bm_george", "", ""),
    ],
)
def test_a_mix_is_what_all_of_its_parts_are(voice, sex, accent):
    assert traits_of(voice) == Traits(sex=sex, accent=accent)


@pytest.mark.parametrize(
    ("hertz", "traits", "word"),
    [
        (100, Traits("male"), "low"),
        (125, Traits("male"), "middle"),
        (170, Traits("male"), "high"),
        (165, Traits("female"), "low"),
        (185, Traits("female"), "middle"),
        (260, Traits("female"), "high"),
        (260, Traits("female", "child"), ""),
        (260, Traits(), ""),
        (0, Traits("male"), ""),
    ],
)
def test_a_pitch_is_judged_by_the_sex(hertz, traits, word):
    assert pitch_word(hertz, traits) == word


def test_a_mix_is_as_fast_as_its_parts_together():
    assert pace_of("bm_george") == 0.86
    assert pace_of("0.5*bm_george+0.5*af_jessica") == pytest.approx(1.0)


def test_a_pitch_is_said_as_it_was_measured():
    who = Cast("walter", "bm_george", 1.1, traits=traits_of("bm_george"))
    assert described(who, 143.0) == Traits("male", "", "high", "british", "usual", "usual")


def test_a_slow_speakers_pace_is_not_called_usual():
    who = Cast("walter", "bm_george", 0.95, traits=traits_of("bm_george"))
    assert described(who, 120.0).tempo == ""


def test_neither_a_preset_told_otherwise_nor_a_mix_of_both_sexes_is_described():
    walter = Cast("walter", "bm_george", 1.0, traits=traits_of("bm_george"))
    assert described(told(walter, "slow", "soft", Random(1)), 120.0) is None
    mix = "0.5*af_heart+0.5*am_puck"
    assert described(Cast("mix-001", mix, 1.0, traits=traits_of(mix)), 150.0) is None


def test_no_design_is_near_the_speakers_that_are_never_trained_on():
    """Each of them mixes voices of two sexes or accents, as no design does."""
    assert all("" in (traits_of(mix).sex, traits_of(mix).accent) for mix in UNSEEN)


def test_designs_are_of_one_sex_and_accent():
    def mixes(names, count, *, seed, most_parts):
        assert most_parts <= len(names)
        return [f"0.{n + 1}*{names[0]}+0.{9 - n}*{names[1]}" for n in range(count)]

    names = ["af_a", "af_b", "af_c", "bm_x", "am_y", "am_z", "af_nicole", "am_santa"]
    voices = design_voices(names, 4, mixes, 1)
    assert voices == [
        *["af_a", "af_b", "af_c", "0.1*af_a+0.9*af_b"],
        *["am_y", "am_z", "0.1*am_y+0.9*am_z", "0.2*am_y+0.8*am_z"],
        "bm_x",
    ]
