import numpy as np
import pytest
import torch

from gpu_engine.train.feed import BatchShape, Feed, training_samples
from gpu_engine.train.holdout import held_out
from gpu_engine.train.packing import (
    AUTO,
    DESIGNED,
    FULL,
    VECTOR,
    Mix,
    lengths,
    pack,
    plan_epoch,
)
from gpu_engine.train.store import COLUMNS, DESCRIPTION, FRAMES, INSTRUCTION, SPEAKER, TOKENS

from .conftest import CPU, TEXTS, make_store


def test_it_works(micro, tmp_path):
    # given utterances with three spellings each
    store = make_store(micro.folder, tmp_path, texts=TEXTS * 8)
    samples = np.arange(len(TEXTS) * 8) * store.spellings
    # when an epoch is planned
    epoch = plan_epoch(store, samples, 96, Mix(), np.random.default_rng(0))
    # then every utterance is there once, whole, in one of its spellings
    starts = (epoch.place == 0) & (epoch.sample >= 0)
    drawn = epoch.sample[starts]
    assert sorted(drawn // store.spellings) == list(range(len(TEXTS) * 8))
    sizes = lengths(store.rows[drawn], epoch.style[starts])
    assert (epoch.sample >= 0).sum() == sizes.sum()
    assert len({int(sample) % store.spellings for sample in drawn}) == 3


def test_rows_are_full(micro, tmp_path):
    store = make_store(micro.folder, tmp_path, texts=TEXTS * 40)
    epoch = plan_epoch(store, training_samples(store), 384, Mix(), np.random.default_rng(0))
    assert (epoch.sample >= 0).mean() > 0.93


def test_lengths_count_prefix_text_and_frames():
    rows = np.zeros((4, COLUMNS), np.int64)
    rows[:, FRAMES], rows[:, TOKENS] = 20, 5
    style = np.array([FULL, FULL | AUTO, 0, AUTO], np.uint8)
    assert lengths(rows, style).tolist() == [9 + 7 + 20, 8 + 7 + 20, 9 + 1 + 20, 8 + 1 + 20]


def test_lengths_count_what_is_told_and_miss_the_speaker():
    rows = np.zeros((3, COLUMNS), np.int64)
    rows[:, FRAMES], rows[:, TOKENS] = 20, 5
    rows[:, INSTRUCTION], rows[:, DESCRIPTION] = 7, 11
    style = np.array([FULL, FULL | DESIGNED, AUTO | DESIGNED], np.uint8)
    assert lengths(rows, style).tolist() == [7 + 9 + 7 + 20, 11 + 8 + 7 + 20, 11 + 7 + 1 + 20]


def styles_of(store, mix):
    epoch = plan_epoch(store, training_samples(store), 96, mix, np.random.default_rng(0))
    starts = (epoch.place == 0) & (epoch.sample >= 0)
    return set(epoch.style[starts].tolist())


def test_who_is_told_something_is_no_clone(micro, tmp_path):
    # given a preset that could be given as a vector, and was told how to speak
    told = ("Speak slowly.", "")
    store = make_store(micro.folder, tmp_path, told=told, references=True)
    always = Mix(full=0, auto=0, vector=1, plain=1, designed=1)
    assert styles_of(store, always) == {0}
    untold = make_store(micro.folder, tmp_path, told=("", ""), references=True)
    assert styles_of(untold, always) == {VECTOR}


def test_a_described_utterance_is_also_shown_by_its_speaker(micro, tmp_path):
    store = make_store(micro.folder, tmp_path, told=("", "An old man."))
    for share in (0, 1):
        mix = Mix(full=0, auto=0, vector=0, plain=1, designed=share)
        assert styles_of(store, mix) == {DESIGNED * share}


@pytest.mark.parametrize("references", [False, True])
def test_a_voice_that_no_speaker_stands_for_is_always_described(micro, tmp_path, references):
    # given a stranger who was told to speak slowly, as no clone can be
    told = ("Speak slowly.", "An old man.")
    store = make_store(
        micro.folder, tmp_path, told=told, speakers=("mallory",), references=references
    )
    # then the description says it, or nothing does
    assert styles_of(store, Mix(full=0, auto=0, vector=0, plain=1, designed=0)) == {DESIGNED}
    bare = make_store(
        micro.folder, tmp_path, told=(told[0], ""), speakers=("mallory",), references=references
    )
    assert styles_of(bare, Mix(full=0, auto=0, vector=0, plain=1, designed=1)) == set()


def test_packing_takes_the_largest_that_fits():
    sizes = np.array([5, 3, 4, 2, 6])
    assert pack(np.arange(5), sizes, 8) == [[4, 3], [0, 1], [2]]


def test_equal_seeds_plan_equal_epochs(micro, tmp_path):
    store = make_store(micro.folder, tmp_path)
    one, two = (
        plan_epoch(store, training_samples(store), 96, Mix(), np.random.default_rng(7))
        for _ in range(2)
    )
    assert np.array_equal(one.sample, two.sample)
    assert np.array_equal(one.style, two.style)


def test_a_held_out_text_is_held_out_in_every_voice_and_writing(micro, tmp_path):
    # given 400 texts, each spoken twice and written differently
    plain = [f"Carriage {number} stops here." for number in range(400)]
    texts = [text for line in plain for text in (line, line.upper().replace(".", "!"))]
    store = make_store(micro.folder, tmp_path, texts=texts, speakers=("clara", "june"))
    # when they are divided
    trained, held = (
        {int(sample) // store.spellings for sample in training_samples(store, held_out=kind)}
        for kind in (False, True)
    )
    # then no text is on both sides, and about one in fifty is held out
    assert {number // 2 for number in trained}.isdisjoint(number // 2 for number in held)
    assert trained | held == set(range(800))
    assert held == {n for n in range(800) if held_out(plain[n // 2])}
    assert 6 <= len(held) <= 32


def test_a_small_corpus_is_trained_on_whole(micro, tmp_path):
    (spared,) = [t for t in (f"Line {n}." for n in range(60)) if held_out(t)][:1]
    store = make_store(micro.folder, tmp_path, texts=[spared] * 99)
    assert len(training_samples(store)) == 99
    assert len(training_samples(store, held_out=True)) == 0


def empty_slots():
    kinds = torch.int32, torch.int16, torch.uint8
    return tuple(torch.zeros(2, 64, dtype=kind) for kind in kinds)


def test_the_feed_tells_who_speaks_in_a_batch(micro, tmp_path):
    # given presets, one of them as a vector at times, and a stranger
    store = make_store(micro.folder, tmp_path)
    feed, slots = Feed(store, BatchShape(rows=2, length=64), CPU), empty_slots()
    for _ in range(6):
        # when a batch is drawn
        speaking = feed.fill(slots)
        # then they are rows of the references, each once
        numbers = store.table[slots[0][slots[0] >= 0].long(), SPEAKER]
        rows = torch.where(numbers < len(store.presets), numbers, numbers - len(store.presets))
        assert speaking.tolist() == rows.unique().tolist()


def test_the_feed_never_runs_dry(micro, tmp_path):
    store = make_store(micro.folder, tmp_path)
    feed, slots = Feed(store, BatchShape(rows=2, length=64), CPU), empty_slots()
    epochs = []
    for _ in range(12):
        feed.fill(slots)
        assert (slots[0] >= 0).any()
        epochs.append(feed.epoch)
    assert epochs == sorted(epochs)
    assert epochs[-1] >= 3
