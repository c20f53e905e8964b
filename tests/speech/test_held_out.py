"""The held-out set: what it holds, and that training stays clear of it."""

from __future__ import annotations

from collections import Counter

import pytest

from gpu_engine.train.sentences import Avoid
from tests.speech.listening import KINDS, ROOT, compared, held_out, sentences, turn
from tests.speech.unseen import UNSEEN, heard_in_training, parents
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


def test_a_mix_of_the_same_voices_in_training_is_found() -> None:
    """Given other shares of an unseen speaker's two voices, when training has them, it is named."""
    assert heard_in_training(["0.10*am_michael+0.90*af_sky"]) == [UNSEEN[0]]
    assert heard_in_training(["0.10*am_michael+0.90*af_nova"]) == []
