"""The C files do what PyTorch's operators do, and to the last bit whatever the company."""

from __future__ import annotations

import copy
from ctypes import CDLL
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.native import NativeRunner, runs_natively
from gpu_engine.runner import Runner
from tests.native.conftest import POSITIONS, SLOTS
from tests.native.streams import heard, opened, spoken

FRAMES = 30  # beyond the codec's window of 24


def test_it_works(native: NativeRunner, plain: Runner, shipped: Checkpoint) -> None:
    assert runs_natively(shipped)
    results = []
    for runner in (native, plain):
        session = opened(runner, 0, seed=1)
        spoken(runner, [session], FRAMES)
        codes, state = runner.spoken_codes(session), runner.hidden[0].clone()
        results.append((codes, state, heard(runner, session, [1, 2, 4, 8, 15])))
    (codes, state, audio), (other_codes, other_state, other_audio) = results
    assert torch.equal(codes, other_codes)
    torch.testing.assert_close(state, other_state, atol=1e-4, rtol=0.0)
    assert audio.shape == other_audio.shape == (FRAMES * 1920,)
    assert np.abs(audio - other_audio).max() < 1e-5


@pytest.mark.parametrize(
    "sampling",
    [
        {"do_sample": False, "subtalker_dosample": False},
        {"temperature": 1.0, "top_k": 0, "subtalker_temperature": 1.0, "subtalker_top_k": 0},
        {"temperature": 1.0, "top_k": 5, "subtalker_temperature": 1.0, "subtalker_top_k": 1},
        {"temperature": 1.0, "top_p": 0.7, "subtalker_temperature": 1.0, "subtalker_top_p": 0.6},
        {"temperature": 1.0, "repetition_penalty": 1.5},
    ],
    ids=["greedy", "unlimited", "top-k", "top-p", "penalty"],
)
def test_codes_are_drawn_alike(
    sampling: dict[str, Any], native: NativeRunner, plain: Runner
) -> None:
    drawn = []
    for runner in (native, plain):
        session = opened(runner, 0, seed=3, **sampling)
        spoken(runner, [session], 12)
        drawn.append((runner.spoken_codes(session), runner.seen[0].clone()))
    (codes, seen), (other_codes, other_seen) = drawn
    assert torch.equal(codes, other_codes)
    assert torch.equal(seen, other_seen)


def test_rows_agree_with_themselves_alone_to_the_last_bit(native: NativeRunner) -> None:
    alone = []
    for seed in range(4):
        session = opened(native, 0, seed)
        spoken(native, [session], 20)
        codes, state = native.spoken_codes(session), native.hidden[0].clone()
        alone.append((codes, state, heard(native, session, [20])))
    together = [opened(native, slot, slot) for slot in range(4)]
    spoken(native, together, 20)
    for slot, (codes, state, audio) in enumerate(alone):
        assert torch.equal(native.spoken_codes(together[slot]), codes)
        assert torch.equal(native.hidden[slot], state)
        assert np.array_equal(heard(native, together[slot], [20]), audio)


@pytest.mark.parametrize(
    "chunks",
    [[1] * FRAMES, [2] * 15, [5] * 6, [1, 2, 4, 8, 15], [29, 1]],
    ids=["1", "2", "5", "ramp", "29+1"],
)
def test_streamed_audio_is_the_whole_to_the_last_bit(
    chunks: list[int], native: NativeRunner
) -> None:
    whole, cut = opened(native, 0, seed=2), opened(native, 1, seed=2)
    spoken(native, [whole, cut], FRAMES)
    assert np.array_equal(heard(native, cut, chunks), heard(native, whole, [FRAMES]))


def test_streams_decoded_in_turns_do_not_mix(native: NativeRunner) -> None:
    alone = opened(native, 0, seed=1)
    spoken(native, [alone], 8)
    expected = heard(native, alone, [8])
    pair = [opened(native, 2, seed=1), opened(native, 3, seed=5)]
    spoken(native, pair, 8)
    pieces = [native.decode(pair, 2)[0] for _ in range(4)]
    assert np.array_equal(np.concatenate(pieces), expected)


def test_threads_that_share_a_decode_change_nothing(
    native: NativeRunner, shipped: Checkpoint, compiled: CDLL
) -> None:
    audio = []
    for runner in (native, NativeRunner(shipped, SLOTS, POSITIONS, compiled, threads=3)):
        sessions = [opened(runner, slot, slot) for slot in range(SLOTS)]
        spoken(runner, sessions, 12)
        decodes = [runner.decode(sessions, frames) for frames in (1, 3, 8)]
        audio.append([np.concatenate(rows) for rows in zip(*decodes, strict=True)])
    for one, shared in zip(*audio, strict=True):
        assert np.array_equal(one, shared)


def test_a_slot_that_is_used_again_starts_anew(native: NativeRunner) -> None:
    first = opened(native, 1, seed=4)
    spoken(native, [first], 6)
    audio = heard(native, first, [6])
    again = opened(native, 1, seed=4)
    spoken(native, [again], 6)
    assert np.array_equal(heard(native, again, [6]), audio)


def test_a_reference_is_heard_before_the_first_frame(native: NativeRunner, plain: Runner) -> None:
    codes = torch.randint(512, (9, 16), generator=torch.Generator().manual_seed(0))
    audio = []
    for runner in (native, plain):
        session = opened(runner, 0, seed=1)
        spoken(runner, [session], 4)
        runner.codec_state.reset(torch.tensor([0]))
        runner._hear_codes(torch.tensor([0]), codes)
        audio.append(heard(runner, session, [4]))
    assert np.abs(audio[0] - audio[1]).max() < 1e-5


def test_numbers_that_break_are_told(native: NativeRunner) -> None:
    sound, broken = opened(native, 0, seed=1), opened(native, 1, seed=2)
    spoken(native, [sound, broken], 2)
    native.next_input[1] = float("nan")
    assert native.talk([sound, broken]).broken == [False, True]


def test_bfloat16_is_pytorch_s(shipped: Checkpoint) -> None:
    talker = copy.deepcopy(shipped.talker).to(torch.bfloat16)
    assert not runs_natively(replace(shipped, talker=talker))


def test_a_large_model_is_pytorch_s(shipped: Checkpoint) -> None:
    wide = replace(shipped.config.talker, hidden_size=1024)
    assert not runs_natively(replace(shipped, config=replace(shipped.config, talker=wide)))


def test_heads_that_fill_no_vector_are_pytorch_s(shipped: Checkpoint) -> None:
    narrow = replace(shipped.config.talker, head_dim=24)
    assert not runs_natively(replace(shipped, config=replace(shipped.config, talker=narrow)))
