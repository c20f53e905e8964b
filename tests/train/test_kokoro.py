"""The teacher's corpus, with a teacher that hums."""

from collections import Counter
from itertools import islice, pairwise

import numpy as np
import pytest
import torch

from gpu_engine.train.alignment import UNLABELLED
from gpu_engine.train.corpora.casting import PRESETS
from gpu_engine.train.corpora.kokoro import (
    Line,
    Plan,
    codec_speech,
    phone_labels,
    read_lines,
    speech,
)
from gpu_engine.train.corpus import open_corpus

from .conftest import TEXTS

CPU = torch.device("cpu")


@pytest.fixture
def settings(teacher, spoken_texts):
    return {"teacher": str(teacher), "texts": str(spoken_texts)}


def utterances(settings, **more):
    named = {key: str(value) for key, value in more.items()}
    return [u for batch in speech(CPU, settings | named) for u in batch.utterances]


def test_it_works(settings):
    # when every line is spoken once
    batches = list(open_corpus("gpu_engine.train.corpora.kokoro:speech", CPU, settings))
    # then each is there with audio, a label every 25 ms and the times of its words
    spoken = [u for batch in batches for u in batch.utterances]
    assert sorted(u.text for u in spoken) == sorted([*TEXTS, "Gate 7."])
    for batch in batches:
        for utterance in batch.utterances:
            assert len(utterance.phones) * 600 == batch.audio.shape[1]
    no = next(u for u in spoken if u.text == "No.")
    np.testing.assert_allclose(no.words, [[0, 3, 0.075, 0.3]], rtol=1e-5)
    assert {u.speaker for u in spoken} <= {*PRESETS, *(f"mix-{n:03}" for n in range(160))}


def test_the_parts_of_a_corpus_are_the_whole(settings):
    parts = [utterances(settings, part=part, parts=3) for part in range(3)]
    texts = [{u.text for u in part} for part in parts]
    assert sum(map(len, texts)) == len(set.union(*texts)) == len(TEXTS) + 1


def test_another_pass_has_other_voices(settings):
    twice = utterances(settings, passes=8, mixes=0)
    assert Counter(u.text for u in twice) == dict.fromkeys([*TEXTS, "Gate 7."], 8)
    assert len({u.speaker for u in twice if u.text == "No."}) > 2
    assert {u.speaker for u in twice} <= set(PRESETS)


def test_a_corpus_goes_on_with_a_later_pass(settings):
    def cast(**more):
        return [(u.text, u.speaker) for u in utterances(settings, mixes=0, **more)]

    both = cast(passes=2)
    assert cast(first=1) == both[len(both) // 2 :]


def test_all_mixes(settings):
    assert all(u.speaker.startswith("mix-") for u in utterances(settings, mixes=1, speakers=5))


def test_the_same_seed_casts_the_same_speakers(settings):
    casts = [[u.speaker for u in utterances(settings, seed=seed)] for seed in (1, 1, 2)]
    assert casts[0] == casts[1] != casts[2]


WORDED = {"instructed": 0.5, "designed": 0.5, "passes": 20, "mixes": 0.2}


def test_who_speaks_otherwise_is_told_so_and_whose_sex_is_known_is_described(settings):
    spoken = utterances(settings, **WORDED)
    presets = [u for u in spoken if u.speaker in PRESETS]
    assert {bool(u.instruction) for u in presets} == {False, True}
    assert {bool(u.description) == bool(u.instruction) for u in presets} == {False}
    unnamed = [u for u in spoken if not u.speaker]
    assert len(unnamed) > 10
    assert all(u.description for u in unnamed)
    # a mix of both sexes has no description, and nobody who is known is only described
    assert {u.description for u in spoken if u.speaker.startswith("mix-")} == {""}
    assert not any(u.instruction for u in spoken if u.speaker.startswith("mix-"))


def test_words_and_phones_still_fit_the_audio(settings):
    named = {key: str(value) for key, value in WORDED.items()}
    lengths = set()
    for batch in speech(CPU, settings | named):
        for audio, utterance in zip(batch.audio, batch.utterances, strict=True):
            assert len(utterance.phones) * 600 <= len(audio)
            assert not audio[len(utterance.phones) * 600 :].any()
            lengths.add(len(utterance.phones) if utterance.text == "No." else 0)
            # the hum lasts as long as its word
            loud = np.flatnonzero(audio.abs().numpy() > 0.02) / 24_000
            assert loud[0] == pytest.approx(utterance.words[0, 2], abs=0.08)
    assert len(lengths) > 4


def test_the_same_seed_says_the_same_words(settings):
    one, two = (
        [(u.text, u.instruction, u.description) for u in utterances(settings, **WORDED)]
        for _ in range(2)
    )
    assert one == two


def test_without_shares_nobody_is_described(settings):
    assert not any(u.instruction or u.description for u in utterances(settings, passes=5))


def test_enough_is_enough(settings):
    assert len(utterances(settings, passes=1000, hours=10 / 3600)) < 40


def test_labels_are_what_is_heard(settings):
    # given a line with stress, a space and a mark
    vocab = {"h": 10, "\u02c8": 11, "o": 12, " ": 13, ".": 14}
    line = Line("Ho ho.", "Ho ho.", "h\u02c8o ho.", [10, 11, 12, 13, 10, 12, 14])
    labels = phone_labels(line, np.array([2, 1, 1, 2, 1, 1, 1, 3, 1]), vocab)
    # then stress sounds like its vowel, the mark is silence, the space is unclear
    unclear = UNLABELLED
    assert labels.tolist() == [0, 0, 10, 12, 12, 12, unclear, 10, 12, 0, 0, 0, 0]


def test_what_the_teacher_cannot_say_is_left_out(spoken_texts):
    # given a teacher that knows three sounds
    lines = read_lines(Plan(spoken_texts), {"n": 1, "o": 2, "v": 3})
    said = {line.text: line.phonemes for line in lines}
    assert said["No."] == "no"
    assert said["Gate 7."] == "vn"
    # then a line of which nothing is left is gone
    assert "Gate 7." not in {line.text for line in read_lines(Plan(spoken_texts), {"k": 1})}


@pytest.mark.parametrize("designed", ["0", "1"])
def test_the_codec_hears_one_speaker_at_a_time(settings, designed):
    more = {"lines": "3", "pool": "12", "designed": designed}
    rows = list(islice(codec_speech(CPU, settings | more), 8))
    for batch in rows:
        (utterance,) = batch.utterances
        assert batch.audio.shape == (1, 600 * len(utterance.phones))
        # silence is heard where it is labelled, up to what a change of size rounds
        if designed == "1":
            continue
        loud = batch.audio[0].view(-1, 600).abs().amax(1) > 0.1
        assert not loud[torch.from_numpy(utterance.phones) == 0].any()
    assert any(
        one.utterances[0].speaker != two.utterances[0].speaker for one, two in pairwise(rows)
    )
