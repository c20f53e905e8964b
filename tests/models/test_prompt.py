from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from gpu_engine.errors import InvalidRequest
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import (
    NO_CODE,
    PromptRequest,
    Reference,
    build_prompt,
    language_id,
    plan_prompt,
)

Load = Callable[[str], Checkpoint]
CUSTOM, BASE, DESIGN = "tiny-1b7-custom_voice", "tiny-1b7-base", "tiny-1b7-voice_design"
ASK = PromptRequest("Hello there.", "english", "vivian")
PAD, BOS, END = 151671, 151672, 151673
CODEC_PAD, CODEC_BOS = 2148, 2149
ROLE = [151644, 77091, 198]
VECTOR = torch.ones(64)


def refused(checkpoint: Checkpoint, request: PromptRequest) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        plan_prompt(checkpoint.config, checkpoint.tokenizer, request)
    return caught.value


def test_it_works(checkpoint: Load) -> None:
    prompt = build_prompt(checkpoint(CUSTOM), ASK)
    assert prompt.inputs.shape == (3 + 6 + 3 + 2, 64)
    assert prompt.trailing.shape == (1, 64)
    assert torch.equal(prompt.trailing[0], prompt.tts_pad)
    assert (prompt.text_tokens, prompt.prefix_length) == (3, 9)


def test_full_text_positions(checkpoint: Load) -> None:
    loaded = checkpoint(CUSTOM)
    plan = plan_prompt(loaded.config, loaded.tokenizer, ASK)
    text = loaded.tokenizer.encode(ASK.text)
    assert list(plan.text_ids) == [*ROLE, *[PAD] * 5, BOS, *text, END, PAD]
    prefix = [2154, 2156, 2050, 2157, 3065, CODEC_PAD]
    codes = [*[NO_CODE] * 3, *prefix, *[CODEC_PAD] * 4, CODEC_BOS]
    assert list(plan.codec_ids) == codes
    assert plan.trailing == (PAD,)


def test_streaming_feeds_one_token_a_frame(checkpoint: Load) -> None:
    loaded = checkpoint(CUSTOM)
    plan = plan_prompt(loaded.config, loaded.tokenizer, replace(ASK, layout="streaming"))
    first, *rest = loaded.tokenizer.encode(ASK.text)
    assert (plan.text_ids[-1], plan.codec_ids[-1]) == (first, CODEC_BOS)
    assert plan.trailing == (*rest, END)


def test_the_prefix_does_not_depend_on_the_text(checkpoint: Load) -> None:
    loaded = checkpoint(CUSTOM)
    one, two = (
        build_prompt(loaded, replace(ASK, text=text)) for text in ("One.", "Quite another.")
    )
    assert one.prefix_length == two.prefix_length
    assert torch.equal(one.inputs[: one.prefix_length], two.inputs[: two.prefix_length])


@pytest.mark.parametrize(
    ("language", "speaker", "expected"),
    [
        ("auto", "vivian", None),
        ("english", "vivian", 2050),
        ("auto", "dylan", 2074),
        ("chinese", "eric", 2062),
        ("english", "dylan", 2050),
    ],
)
def test_dialects_override_chinese_and_auto_only(
    language: str, speaker: str, expected: int | None, checkpoint: Load
) -> None:
    assert language_id(checkpoint(CUSTOM).config, language, speaker) == expected


def test_instructions_come_first(checkpoint: Load) -> None:
    loaded = checkpoint(CUSTOM)
    asked = replace(ASK, instructions="Whisper.")
    plan = plan_prompt(loaded.config, loaded.tokenizer, asked)
    wrapped = loaded.tokenizer.wrap_instruction("Whisper.")
    assert list(plan.text_ids[: len(wrapped) + 3]) == [*wrapped, *ROLE]
    assert plan.prefix_length == len(wrapped) + 9


def test_small_models_drop_instructions(checkpoint: Load) -> None:
    loaded = checkpoint("tiny-0b6-custom_voice")
    asked = replace(ASK, instructions="Whisper.")
    plans = [plan_prompt(loaded.config, loaded.tokenizer, request) for request in (ASK, asked)]
    assert plans[0] == plans[1]


def test_a_clone_has_its_vector_in_the_speaker_slot(checkpoint: Load) -> None:
    loaded = checkpoint(BASE)
    ask = PromptRequest("Hello there.", "english", embedding=VECTOR)
    with_one, with_two = (
        build_prompt(loaded, replace(ask, embedding=VECTOR * factor)).inputs for factor in (1, 2)
    )
    changed = (with_two - with_one).abs().sum(1).nonzero().flatten().tolist()
    assert changed == [7]


@pytest.mark.parametrize(("frames", "left"), [(3, 3), (30, 1)])
def test_a_reference_meets_the_text_position_by_position(
    frames: int, left: int, checkpoint: Load
) -> None:
    loaded = checkpoint(BASE)
    reference = Reference("Short one.", torch.zeros(frames, 16, dtype=torch.int64))
    ask = PromptRequest("Hello there.", "english", embedding=VECTOR, reference=reference)
    plan = plan_prompt(loaded.config, loaded.tokenizer, ask)
    assert len(plan.text_ids) == 9 + 1 + frames
    assert plan.frames_at == 10
    assert len(plan.trailing) == left


def test_empty_text_is_refused(checkpoint: Load) -> None:
    error = refused(checkpoint(CUSTOM), replace(ASK, text=""))
    assert (error.code, error.field) == ("invalid_request", "text")


def test_unknown_speaker_is_refused(checkpoint: Load) -> None:
    assert refused(checkpoint(CUSTOM), replace(ASK, speaker="mallory")).field == "voice"


def test_unknown_language_is_refused(checkpoint: Load) -> None:
    assert refused(checkpoint(CUSTOM), replace(ASK, language="klingon")).field == "language"


def test_preset_speaker_of_a_base_model_is_refused(checkpoint: Load) -> None:
    assert refused(checkpoint(BASE), ASK).field == "voice"


def test_clone_without_embedding_is_refused(checkpoint: Load) -> None:
    assert refused(checkpoint(BASE), PromptRequest("Hello.")).field == "voice"


def test_clone_on_a_preset_model_is_refused(checkpoint: Load) -> None:
    assert refused(checkpoint(CUSTOM), replace(ASK, embedding=VECTOR)).field == "voice"


def test_clone_on_a_design_model_is_refused(checkpoint: Load) -> None:
    ask = PromptRequest("Hello.", embedding=VECTOR)
    assert refused(checkpoint(DESIGN), ask).field == "voice"


def test_embedding_of_another_width_is_refused(checkpoint: Load) -> None:
    ask = PromptRequest("Hello.", embedding=torch.ones(63))
    assert refused(checkpoint(BASE), ask).field == "voice"


@pytest.mark.parametrize(
    "reference",
    [
        Reference("Words.", torch.zeros(4, 15, dtype=torch.int64)),
        Reference("Words.", torch.zeros(0, 16, dtype=torch.int64)),
        Reference("Words.", torch.full((4, 16), 2048)),
        Reference("Words.", torch.full((4, 16), -1)),
        Reference("  ", torch.zeros(4, 16, dtype=torch.int64)),
    ],
    ids=["groups", "no frames", "code too large", "code negative", "no transcript"],
)
def test_unusable_reference_is_refused(reference: Reference, checkpoint: Load) -> None:
    ask = PromptRequest("Hello.", embedding=VECTOR, reference=reference)
    assert refused(checkpoint(BASE), ask).field == "voice"
