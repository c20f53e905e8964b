"""Streams of a runner, from prompt to codes, hidden states and audio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_engine.audio import LeadingSilence
from gpu_engine.models.prompt import PromptRequest, plan_prompt
from gpu_engine.runner import Runner, Session

TEXT = "The quick brown fox jumps over the lazy dog"


def opened(runner: Runner, slot: int, seed: int, **sampling: Any) -> Session:
    """A stream of its own text by seed, its prompt read; silence stays."""
    config = runner.checkpoint.config
    speaker = sorted(config.talker.spk_id)[seed % len(config.talker.spk_id)]
    request = PromptRequest(TEXT + " again" * seed, speaker=speaker)
    plan = plan_prompt(config, runner.checkpoint.tokenizer, request)
    chosen = replace(config.sampling, **sampling)
    session = Session(plan, chosen, seed, silence=LeadingSilence(open=True))
    assert runner.prefill(session, slot).broken == [False]
    return session


def spoken(runner: Runner, sessions: Sequence[Session], frames: int) -> None:
    for _ in range(frames):
        runner.predict(sessions)
        runner.talk(sessions)


def heard(runner: Runner, session: Session, chunks: Sequence[int]) -> NDArray[np.float32]:
    return np.concatenate([runner.decode([session], frames)[0] for frames in chunks])
