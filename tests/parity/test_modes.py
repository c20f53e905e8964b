"""Every voice kind and text layout against the reference package's float32 run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from gpu_engine.config import SamplingConfig
from gpu_engine.models.attention import GrowingAttend, left_padded_positions
from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from gpu_engine.models.prompt import build_prompt
from gpu_engine.models.synthesis import Utterance, synthesise
from tests.parity.cases import CASES, SAMPLED, Arrays, golden, tensor

Load = Callable[[str], Checkpoint]
CLOSE = 1e-4  # of the largest value compared
every_case = pytest.mark.parametrize("name", CASES)


def assert_close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    assert ours.shape == theirs.shape
    scale = max(1.0, float(theirs.abs().max()))
    assert float((ours - theirs).abs().max()) <= CLOSE * scale


@every_case
def test_it_works(name: str, checkpoint: Load) -> None:
    case, expected = CASES[name], golden(name)
    speeches = synthesise(checkpoint(case.checkpoint), case.utterances())
    for row, speech in enumerate(speeches):
        codes = tensor(expected[f"codes_{row}"])
        assert torch.equal(speech.codes, codes)
        assert speech.stopped == (len(codes) < case.tokens - 1)
        assert_close(speech.audio, tensor(expected[f"wav_{row}"]))


@every_case
def test_prompt(name: str, checkpoint: Load) -> None:
    case, expected = CASES[name], golden(name)
    for row, request in enumerate(case.rows):
        prompt = build_prompt(checkpoint(case.checkpoint), request)
        padding = expected["prefill_inputs"].shape[1] - len(prompt.inputs)
        assert_close(prompt.inputs, tensor(expected["prefill_inputs"][row])[padding:])
        trailing = tensor(expected["trailing_text"][row])
        assert_close(prompt.trailing, trailing[: len(prompt.trailing)])
        for padding_vector in trailing[len(prompt.trailing) :]:
            assert_close(prompt.tts_pad, padding_vector)


@every_case
@torch.inference_mode()
def test_talker_given_the_reference_inputs(name: str, checkpoint: Load) -> None:
    expected, talker = golden(name), checkpoint(CASES[name].checkpoint).talker
    inputs, steps = tensor(expected["prefill_inputs"]), tensor(expected["step_inputs"])
    lengths = _prompt_lengths(expected)
    attend = GrowingAttend(lengths)
    positions = left_padded_positions(lengths, inputs.shape[1])
    hidden = [talker(inputs, positions, attend)[:, -1]]
    for step in range(expected["hidden"].shape[1] - 1):
        at = (lengths + step)[:, None]
        hidden.append(talker(steps[:, step : step + 1], at, attend)[:, 0])
    assert_close(torch.stack(hidden, 1), tensor(expected["hidden"]))
    assert_close(talker.logits(torch.stack(hidden, 1)), tensor(expected["logits"]))


def _prompt_lengths(expected: Arrays) -> torch.Tensor:
    rows, width = expected["prefill_inputs"].shape[:2]
    mask = expected["prefill_mask"]
    if mask.size == 0:
        return torch.full((rows,), width)
    return tensor(mask).long().sum(1)


@every_case
@pytest.mark.parametrize("way", ["frame", "plain_frame"])
@torch.inference_mode()
def test_code_predictor_given_the_reference_hidden_states(
    name: str, way: str, checkpoint: Load
) -> None:
    expected, talker = golden(name), checkpoint(CASES[name].checkpoint).talker
    rows, frames = expected["cp_logits"].shape[:2]
    for frame in range(frames):
        codes = torch.stack([tensor(expected[f"codes_{row}"])[frame] for row in range(rows)])
        logits: list[torch.Tensor] = []

        def choose(group: int, scores: torch.Tensor) -> torch.Tensor:
            logits.append(scores)  # noqa: B023  a new list every frame is the point
            return codes[:, group]  # noqa: B023

        hidden = tensor(expected["hidden"])[:, frame]
        predict = getattr(talker.code_predictor, way)
        predict(hidden, talker.codec_embedding(codes[:, 0]), choose)
        assert_close(torch.stack(logits, 1), tensor(expected["cp_logits"])[:, frame])


def test_default_sampling_draws_what_the_reference_drew(checkpoint: Load) -> None:
    expected = golden("cv_sampled")
    row = Utterance(SAMPLED.rows[0], SamplingConfig(), max_frames=SAMPLED.tokens - 1)
    torch.manual_seed(0)
    speech = synthesise(checkpoint(SAMPLED.checkpoint), [row], reference_draws=True)[0]
    assert torch.equal(speech.codes, tensor(expected["codes_0"]))
    assert_close(speech.audio, tensor(expected["wav_0"]))


@torch.inference_mode()
def test_bfloat16_given_the_reference_codes(checkpoint_folder: Callable[[str], Path]) -> None:
    case, expected = CASES["cv_stream_en"], golden("cv_stream_en")
    rounded = load_checkpoint(checkpoint_folder(case.checkpoint), dtype=torch.bfloat16)
    prompt = build_prompt(rounded, case.rows[0])
    wanted = tensor(expected["prefill_inputs"][0])
    assert float((prompt.inputs.float() - wanted).abs().max()) < 0.02
    positions = torch.arange(len(wanted))[None]
    hidden = rounded.talker(prompt.inputs[None], positions, GrowingAttend())[:, -1]
    logits = rounded.talker.logits(hidden).float()
    assert float((logits - tensor(expected["logits"])[:, 0]).abs().max()) < 0.35
