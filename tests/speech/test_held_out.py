"""The held-out set: what it holds, and that training stays clear of it."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from gpu_engine.train.sentences import Avoid
from tests.speech.listening import KINDS, ROOT, compared, held_out, sentences, turn
from tests.speech.unseen import DESIGNS, TRAINING, UNSEEN, distance, heard_in_training, parents
from tests.speech.words import readings, words


def test_two_hundred_sentences_of_ten_kinds() -> None:
    kinds = Counter(each.kind for each in held_out())
    assert len({each.text for each in held_out()}) == 200
    assert set(kinds.values()) == {20}
    assert len(kinds) == KINDS


def test_they_are_not_the_gates() -> None:
    gate = Avoid(each.text for each in sentences())
    assert [each.text for each in held_out() if each.text in gate] == []


def test_what_should_be_heard_is_what_is_written() -> None:
    """Given a text with digits, when they are read, then the words beside it are a reading."""
    wrong = [each for each in held_out() if words(each.words) not in readings(each.text)]
    assert wrong == []


@pytest.mark.parametrize("count", [8, len(UNSEEN)])
def test_every_voice_says_sentences_of_every_kind(count: int) -> None:
    said = {(turn(number, count), each.kind) for number, each in enumerate(held_out())}
    assert len(said) == count * KINDS


def test_the_teacher_says_some_of_every_kind() -> None:
    chosen = Counter(each.kind for n, each in enumerate(held_out()) if compared(n, each))
    assert chosen.pop("long") == 20
    assert set(chosen.values()) == {5}


def test_texts_for_training_stay_clear_of_them() -> None:
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    (avoided,) = [line for line in lines if line.startswith("HELD_OUT")]
    assert "tests/speech/heldout.txt" in avoided
    assert "tests/speech/sentences.txt" in avoided


def test_ten_speakers_are_whole_mixes() -> None:
    shares = [[float(part.split("*")[0]) for part in mix.split("+")] for mix in UNSEEN]
    assert len({parents(mix) for mix in UNSEEN}) == 10
    assert [round(sum(each), 6) for each in shares] == [1.0] * 10


def test_a_voice_of_the_training_that_is_near_is_found() -> None:
    """Given an unseen speaker's two voices, when training has them in shares like his, he is named;
    in shares of another voice he is not."""
    assert heard_in_training(["0.60*af_sky+0.40*am_onyx"]) == [UNSEEN[0]]
    assert heard_in_training(["0.10*af_sky+0.90*am_onyx"]) == []
    assert heard_in_training(["0.49*af_sky+0.51*am_puck"]) == []


def test_speakers_are_as_far_as_their_shares_differ() -> None:
    assert distance("0.5*af_sky+0.5*am_onyx", "0.5*am_onyx+0.5*af_sky") == 0
    assert distance("0.5*af_sky+0.5*am_onyx", "0.2*am_onyx+0.8*bm_fable") == 0.8
    assert distance("af_sky", "am_onyx") == 1


def test_the_training_that_is_asked_about_is_the_recipes() -> None:
    recorded = json.loads((ROOT / "gpu_engine/train/family.json").read_text("utf-8"))
    settings = dict(pair.split("=") for pair in recorded["options"]["set"])
    assert int(settings["speakers"]) == TRAINING[0]
    assert {"seed", "designs"}.isdisjoint(settings)
    assert (TRAINING[1], DESIGNS) == (1, 32)
