from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import PromptRequest
from gpu_engine.models.synthesis import GREEDY, Utterance, synthesise

Load = Callable[[str], Checkpoint]
CUSTOM = "tiny-1b7-custom_voice"
ALICE = Utterance(PromptRequest("Good morning to you.", "english", "vivian"), seed=1, max_frames=6)
BOB = replace(ALICE, prompt=PromptRequest("Hi.", "auto", "ryan", layout="streaming"), seed=2)


def test_it_works(checkpoint: Load) -> None:
    speech = synthesise(checkpoint(CUSTOM), [ALICE])[0]
    assert speech.codes.shape == (6, 16)
    assert speech.audio.shape == (6 * 1920,)
    assert not speech.stopped


def test_a_seed_gives_the_same_speech_in_any_company(checkpoint: Load) -> None:
    loaded = checkpoint(CUSTOM)
    alone = synthesise(loaded, [ALICE])[0]
    together = synthesise(loaded, [BOB, ALICE, replace(ALICE, seed=3)])
    assert torch.equal(together[1].codes, alone.codes)
    torch.testing.assert_close(together[1].audio, alone.audio, atol=1e-4, rtol=0.0)


def test_another_seed_gives_other_speech(checkpoint: Load) -> None:
    one, two = synthesise(checkpoint(CUSTOM), [ALICE, replace(ALICE, seed=2**64 - 1)])
    assert not torch.equal(one.codes, two.codes)


def test_rows_keep_their_own_caps(checkpoint: Load) -> None:
    long, short = synthesise(checkpoint(CUSTOM), [ALICE, replace(ALICE, max_frames=2)])
    assert (len(long.codes), len(short.codes)) == (6, 2)
    assert torch.equal(long.codes[:2], short.codes)


@pytest.mark.parametrize(("cap", "stopped"), [(27, False), (28, True), (40, True)])
def test_the_end_of_speech_is_told_from_the_cap(cap: int, stopped: bool, checkpoint: Load) -> None:
    text = "The quick brown fox jumps over the lazy dog near the river bank."
    row = Utterance(PromptRequest(text, "japanese", "ono_anna"), GREEDY, max_frames=cap)
    speech = synthesise(checkpoint(CUSTOM), [row])[0]
    assert (len(speech.codes), speech.stopped) == (min(cap, 28), stopped)
