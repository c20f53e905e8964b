import numpy as np
import pytest

from gpu_engine.train.alignment import (
    NOWHERE,
    REACH,
    spoken_characters,
    token_targets,
    word_times,
    written_spans,
)

TEXT, PHONEMES = "No, stop it.", "nXO, stXap It."
DURATIONS = [4, 2, 2, 6, 8, 2, 3, 3, 3, 3, 3, 1, 4, 4, 5, 3]


def test_it_works():
    words = word_times(TEXT, TEXT, PHONEMES, DURATIONS, 0.025)
    assert words is not None
    # the pause of the comma and the full stop belongs to no word
    assert words[:, :2].tolist() == [[0, 3], [4, 8], [9, 12]]
    starts = np.cumsum(DURATIONS) * 0.025
    expected = [[starts[0], starts[3]], [starts[5], starts[10]], [starts[11], starts[13]]]
    np.testing.assert_allclose(words[:, 2:], expected, rtol=1e-5)


def test_numbers_stand_nowhere_and_their_neighbours_where_they_are():
    spans = written_spans("Pay $45 now.", "Pay forty five dollars now.")
    assert spans == [(0, 3), NOWHERE, NOWHERE, NOWHERE, (8, 12)]


def test_characters_move_through_a_word_with_its_time():
    words = np.array([[0, 4, 1.0, 2.0], [5, 9, 2.0, 3.0]], np.float32)
    times = np.array([0.0, 1.0, 1.5, 2.5, 9.0], np.float32)
    assert spoken_characters(words, times).tolist() == [0.0, 0.0, 2.0, 7.0, 9.0]


def test_targets_are_the_tokens_around_the_character():
    words = np.array([[0, 10, 0.0, 1.0]], np.float32)
    offsets = [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]
    times = np.array([0.0, 0.5, 1.0], np.float32)
    targets = token_targets(words, offsets, times)
    assert REACH == 1.5
    assert targets.tolist() == [[0, 0], [1, 3], [4, 4]]


def test_words_that_stand_nowhere_have_no_target():
    words = np.array([[-1, -1, 0.0, 1.0]], np.float32)
    assert token_targets(words, [(0, 2)], np.array([0.5], np.float32)).tolist() == [[-1, -1]]


@pytest.mark.parametrize(
    ("spoken", "durations"), [("No, stop.", DURATIONS), (TEXT, DURATIONS[:-1])]
)
def test_what_does_not_match_has_no_times(spoken, durations):
    assert word_times(TEXT, spoken, PHONEMES, durations, 0.025) is None
