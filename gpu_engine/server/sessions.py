"""From a Submit to the device side of its stream."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gpu_engine.audio import LeadingSilence
from gpu_engine.config import SamplingConfig, TtsConfig
from gpu_engine.messages import Submit
from gpu_engine.models.prompt import PromptPlan
from gpu_engine.runner import Session


def open_session(submit: Submit, config: TtsConfig) -> Session:
    """The device side of a new stream, still on the host."""
    prompt, choice, usual = submit.prompt, submit.sampling, config.sampling
    greedy = choice.temperature == 0
    return Session(
        plan=PromptPlan(
            text_ids=prompt.text_ids,
            codec_ids=prompt.codec_ids,
            trailing=prompt.trailing,
            pad_id=prompt.pad_id,
            text_tokens=prompt.text_tokens,
            prefix_length=prompt.prefix_length,
            vector_at=prompt.vector_at,
            frames_at=prompt.frames_at,
            reference_frames=prompt.reference_frames,
        ),
        sampling=SamplingConfig(
            do_sample=not greedy,
            temperature=choice.temperature,
            top_k=choice.top_k,
            top_p=choice.top_p,
            repetition_penalty=choice.repetition_penalty,
            subtalker_dosample=usual.subtalker_dosample and not greedy,
            subtalker_temperature=usual.subtalker_temperature,
            subtalker_top_k=usual.subtalker_top_k,
            subtalker_top_p=usual.subtalker_top_p,
        ),
        seed=submit.seed,
        vector=_floats(submit.embedding),
        codes=_codes(submit.reference_codes, config.talker.num_code_groups),
        silence=LeadingSilence(open=not submit.trim_silence),
    )


def _floats(raw: bytes) -> Tensor | None:
    return torch.from_numpy(np.frombuffer(raw, "<f4").astype(np.float32)) if raw else None


def _codes(raw: bytes, groups: int) -> Tensor | None:
    if not raw:
        return None
    return torch.from_numpy(np.frombuffer(raw, "<u2").astype(np.int64).reshape(-1, groups))
