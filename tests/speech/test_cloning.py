"""Trials of clones, and whom they are near, with vectors that are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.speech.clips import save
from tests.speech.cloning import WAYS, Original, between, figures, likeness, originals, trials
from tests.speech.listening import Recording, Sentence, held_out

A, B, C = np.eye(3, dtype=np.float32)


@pytest.fixture
def every(tmp_path: Path) -> list[Original]:
    return [
        Original(speaker, Recording(Sentence("x", "x"), tmp_path / f"{speaker}7.wav"))
        for speaker in (0, 1)
    ]


def test_only_long_clips_are_cloned_from(tmp_path: Path) -> None:
    """Given clips of 4, 6 and 11 s of long sentences and one of a short, then one is taken."""
    numbers = [number for number, each in enumerate(held_out()) if each.kind == "long"]
    lengths = {numbers[0]: 4, numbers[1]: 6, numbers[2]: 11, 0: 6}
    for number, seconds in lengths.items():
        save(tmp_path / f"{number:03}.wav", torch.zeros(24_000 * seconds))
    assert [each.recording.file.stem for each in originals(tmp_path)] == [f"{numbers[1]:03}"]


def test_ten_speakers_are_200_trials(tmp_path: Path) -> None:
    """Given one reference of each, and a second of one, when all are cloned both ways."""
    references = [(speaker, 7) for speaker in range(10)] + [(3, 8)]
    every = [
        Original(speaker, Recording(Sentence("x", "x"), tmp_path / f"{speaker}{clip}.wav"))
        for speaker, clip in references
    ]
    asked = list(trials(every, tmp_path))
    by_vector, in_context = ([each for each in asked if each.way == way] for way in WAYS)
    assert len({each.file for each in asked}) == 200
    assert [each.number for each in by_vector] == [each.number for each in in_context]
    spoken = {
        speaker: [t for t in by_vector if t.original.speaker == speaker] for speaker in (3, 4)
    }
    assert [len({each.number for each in said}) for said in spoken.values()] == [10, 10]
    assert [len({each.key for each in said}) for said in spoken.values()] == [2, 1]
    assert [each.original.speaker for each in asked[:10]] == list(range(10))


def test_a_clone_is_its_speakers_when_no_other_is_nearer(
    every: list[Original], tmp_path: Path
) -> None:
    trial = next(trials(every, tmp_path))
    near = {"07.wav": A, "17.wav": B, trial.file.name: (0.8 * A + 0.6 * B).astype(np.float32)}
    far = near | {trial.file.name: (0.6 * A + 0.8 * B).astype(np.float32)}
    assert likeness(trial, every, near) == {
        "own": 0.8,
        "others": 0.6,
        "nearest_other": 0.6,
        "is_own": True,
    }
    assert likeness(trial, every, far)["is_own"] is False


def test_figures_are_over_all_trials() -> None:
    found = [
        {"own": 0.9, "others": 0.5, "is_own": True},
        {"own": 0.7, "others": 0.3, "is_own": False},
    ]
    sums = figures(found)
    assert (sums["own_speaker_share"], sums["own"], sums["others"]) == (0.5, 0.8, 0.4)


def test_references_show_what_can_be_reached(every: list[Original], tmp_path: Path) -> None:
    twin = Original(0, Recording(Sentence("x", "x"), tmp_path / "twin.wav"))
    vectors = {"07.wav": A, "twin.wav": A, "17.wav": C}
    found = between([*every, twin], vectors)
    assert found == {"same_speaker": 1.0, "different_speakers": 0.0}
