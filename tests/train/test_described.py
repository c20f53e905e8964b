"""The measures that described voices are judged by."""

from collections import Counter

import pytest
import torch

from gpu_engine.train.corpora.wording import Traits
from gpu_engine.train.described import (
    Heard,
    Trial,
    designs,
    fit,
    instructions,
    judge_designs,
    judge_instructions,
    letters,
    listen,
)

from .conftest import TEXTS
from .test_pitch import buzz

SENTENCE = "Every spring the swallows return."


def test_it_works():
    # given 28 letters said by a man in two seconds of sound, with a pause
    audio = torch.cat([buzz(120), torch.zeros(12_000), buzz(120)])
    heard = listen(audio, SENTENCE)
    assert letters(SENTENCE) == 28
    assert heard.rate == pytest.approx(14.0, rel=0.01)
    assert heard.pitch == pytest.approx(120, rel=0.05)
    assert heard.sex == "male"
    assert heard.level == pytest.approx(10 * float(buzz(120).square().mean().log10()), abs=0.2)


def test_silence_is_nobody():
    assert listen(torch.zeros(24_000), SENTENCE) == Heard(0.0, 0.0, -120.0)
    assert listen(torch.zeros(0), SENTENCE).rate == 0.0


def test_sentences_must_be_spelled_as_they_are_spoken_and_not_too_short():
    assert fit(
        [*TEXTS, "Call 555 0192 before noon, please do.", "The BBC said so this very day."]
    ) == [
        SENTENCE,
        "Thirty swimmers lined up at the lake.",
    ]


def test_designs_are_of_every_sex_and_tempo_alike():
    trials = designs([SENTENCE], 60)
    counted = Counter((trial.traits.sex, trial.traits.tempo) for trial in trials)
    assert set(counted.values()) == {10}
    assert len(counted) == 6
    # and both are said
    for trial in trials:
        wanted = {"slow": ("slow", "hurry", "time"), "fast": ("fast", "quick", "hurry", "rapid")}
        if trial.traits.tempo in wanted:
            assert any(word in trial.told.lower() for word in wanted[trial.traits.tempo])
    assert designs([SENTENCE], 60) == trials


def test_instructions_stand_beside_what_nobody_told():
    trials = instructions([SENTENCE, "No."], ["clara", "theo"], 2)
    assert [t.voice for t in trials] == ["clara"] * 6 + ["theo"] * 6
    assert [bool(t.told) for t in trials] == [False, *[True] * 5] * 2
    assert {(t.traits.tempo, t.traits.energy) for t in trials[1:6]} == {
        ("slow", "usual"),
        ("usual", "usual"),
        ("fast", "usual"),
        ("usual", "soft"),
        ("usual", "loud"),
    }


def test_described_voices_are_judged_one_by_one():
    # given four trials: all right, a wrong sex, a wrong tempo, both wrong
    asked = [
        Trial(SENTENCE, Traits("female", tempo=t), "so") for t in ("slow", "slow", "fast", "fast")
    ]
    heard = [Heard(200, 12, -20), Heard(110, 12, -20), Heard(200, 17, -20), Heard(110, 10, -20)]
    figures = judge_designs(asked, heard)
    assert figures["sex_right"] == 0.5
    assert figures["tempo_right"] == 0.5
    assert figures["all_right"] == 0.25
    assert figures["tempo_right_by"] == {"slow": 1.0, "usual": 0.0, "fast": 0.0}
    assert figures["sex_right_by"] == {"female": 0.5, "male": 0.0}
    assert [clip["sex"] for clip in figures["clips"]] == [True, False, True, False]


def test_instructions_are_judged_against_the_same_voice_and_sentence():
    asked = [
        Trial(SENTENCE, Traits(), "", "clara"),
        Trial(SENTENCE, Traits(tempo="slow"), "slowly", "clara"),
        Trial(SENTENCE, Traits(energy="loud"), "loudly", "clara"),
        Trial(SENTENCE, Traits(energy="soft"), "softly", "clara"),
    ]
    # given a fast speaker who slows down, speaks up, and does not lower her voice
    heard = [Heard(200, 22, -24), Heard(200, 16, -24), Heard(200, 22, -19), Heard(200, 22, -24)]
    figures = judge_instructions(asked, heard)
    assert figures["trials"] == 3
    assert figures["tempo_right"] == 1.0
    assert figures["energy_right_by"] == {"soft": 0.0, "usual": 1.0, "loud": 1.0}
    assert figures["all_right"] == pytest.approx(2 / 3, abs=1e-3)
