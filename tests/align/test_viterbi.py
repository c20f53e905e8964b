"""The way through given words, by scores that are written out."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_engine.align import initials
from gpu_engine.align.numerals import read_out
from gpu_engine.align.viterbi import Lattice, Scores, best_path, find_edges
from gpu_engine.align.words import Written, is_heard, written

ALPHABET = "abcdefghijklmnopqrstuvwxyz'"


def scores(heard: str) -> Scores:
    """A letter a frame, `_` for none; each is heard with certainty, as far as that goes."""
    found = np.full((len(heard), len(ALPHABET) + 1), np.log(0.001), np.float32)
    for frame, letter in enumerate(heard):
        found[frame, 0 if letter == "_" else ALPHABET.index(letter) + 1] = np.log(0.9)
    return found


def edges(frames: int, starts: list[int], ends: list[int]) -> Scores:
    found = np.full((frames, 2), np.log(0.001), np.float32)
    found[starts, 0] = found[ends, 1] = 0.0
    return found


def spans(heard: str, text: str, *, whole: bool = True) -> list[tuple[str, int, int]]:
    """Each word that was begun, its first and its last frame."""
    words = written(text, ALPHABET)
    lattice = Lattice.of(words, ALPHABET)
    path = best_path(scores(heard), lattice, whole=whole)
    assert path is not None
    begun = int(np.searchsorted(lattice.first, path[-1], "right"))
    first = np.searchsorted(path, lattice.first[:begun], "left").tolist()
    last = (np.searchsorted(path, lattice.last[:begun], "right") - 1).tolist()
    names = [text[word.first : word.end] for word in words]
    return list(zip(names, first, last, strict=False))


def test_it_works() -> None:
    assert spans("__hhi__yo_u_", "Hi, you!") == [("Hi,", 2, 4), ("you!", 7, 10)]


def test_a_letter_that_is_there_twice_is_heard_twice() -> None:
    assert spans("_se_e__a", "see a") == [("see", 1, 4), ("a", 7, 7)]


def test_a_letter_that_is_not_heard_is_gone_through_all_the_same() -> None:
    assert spans("_nie_so", "knife so") == [("knife", 0, 4), ("so", 5, 6)]


def test_a_number_is_what_is_heard_between_its_neighbours() -> None:
    assert spans("at_nine_fi_ve__pm", "at 9:05 pm") == [
        ("at", 0, 1),
        ("9:05", 3, 12),
        ("pm", 15, 16),
    ]


def test_a_sign_is_what_is_heard_between_its_neighbours() -> None:
    assert spans("salt_and_sugar", "salt & sugar") == [
        ("salt", 0, 3),
        ("&", 5, 7),
        ("sugar", 9, 13),
    ]


def test_a_sign_that_is_passed_over_takes_a_frame() -> None:
    assert spans("one___two", "one * two") == [("one", 0, 2), ("*", 3, 3), ("two", 6, 8)]


def test_a_dash_is_not_listened_for() -> None:
    assert spans("one__two", "one — two...") == [("one", 0, 2), ("two...", 5, 7)]


def test_as_far_as_the_audio_goes() -> None:
    assert spans("_hi_yo", "hi you there", whole=False) == [("hi", 1, 2), ("you", 4, 5)]


def test_no_way_through_more_letters_than_frames() -> None:
    words = written("much too long", ALPHABET)
    assert best_path(scores("_hi_"), Lattice.of(words, ALPHABET), whole=True) is None


def test_edges_are_where_they_are_most_probable_near_the_letters() -> None:
    heard, words = "___hi____you__", written("hi you", ALPHABET)
    lattice = Lattice.of(words, ALPHABET)
    path = best_path(scores(heard), lattice, whole=True)
    assert path is not None
    found = find_edges(path, lattice, words, edges(len(heard), [2, 8], [5, 13]), 0.0)
    assert found.starts == pytest.approx([2.5, 8.5], abs=0.01)
    assert found.ends == pytest.approx([5.5, 13.5], abs=0.01)


def test_numbers_in_a_row_share_their_time_by_length() -> None:
    heard, words = "a_fiftyfour__two_b", written("a 54 2 b", ALPHABET)
    lattice = Lattice.of(words, ALPHABET)
    path = best_path(scores(heard), lattice, whole=True)
    assert path is not None
    found = find_edges(path, lattice, words, edges(len(heard), [0, 2, 17], [0, 15, 17]), 0.0)
    assert found.ends[1] == found.starts[2] == pytest.approx(2.5 + 13 * 2 / 3, abs=0.05)


def test_words() -> None:
    assert written("It\u2019s — Málaga: 45.", ALPHABET) == [
        Written(0, 4, "it's", 4),
        Written(7, 14, "malaga", 6),
        Written(15, 18, "", 8),
    ]


def test_a_number_is_read_out_where_somebody_can() -> None:
    (price, time, name) = written("$3.99, 9:05 R2D2", ALPHABET, read_out)
    assert price == Written(0, 6, "threedollarsandninetyninecents", 30)
    assert (time.letters, name.letters) == ("nineohfive", "")


def test_initials_are_read_letter_by_letter() -> None:
    at = "At 5 a.m. HTML, U.S. NASA e.g. x. TV"
    said = [word.letters for word in written(at, ALPHABET, initials.named)]
    assert said == ["at", "", "ayem", "aitchteeemel", "youess", "nasa", "eegee", "x", "teevee"]


def test_a_script_without_blanks_has_a_word_a_character() -> None:
    words = written("你好。ok", ALPHABET)
    assert [(word.first, word.end) for word in words] == [(0, 1), (1, 2), (2, 5)]


@pytest.mark.parametrize(
    ("text", "heard"),
    [("It is 45.", True), ("45", True), ("你好 ok", True), ("你好世界 ok", False)],
)
def test_a_text_is_heard_where_most_of_its_letters_are(text: str, heard: bool) -> None:
    assert is_heard(text, ALPHABET) is heard
