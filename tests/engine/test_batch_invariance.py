"""A stream's codes do not depend on its neighbours, at real widths. PyTorch's products may differ
in the last bit where a processor's library picks another kernel for another number of rows; the C
kernels that serve a small model do not (tests/native)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.talker import Talker
from gpu_engine.server.sessions import open_session
from tests.engine.bench import TEXT, Bench, start
from tests.engine.conftest import CUSTOM


def shipped_widths(small: Checkpoint) -> Checkpoint:
    """Random weights at the widths of the checkpoint that the package ships."""
    predictor = replace(
        small.config.talker.code_predictor_config,
        hidden_size=192,
        intermediate_size=512,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
    )
    wide = replace(
        small.config.talker,
        hidden_size=256,
        intermediate_size=768,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        code_predictor_config=predictor,
    )
    torch.manual_seed(0)
    config = replace(small.config, talker=wide)
    return replace(small, config=config, talker=Talker(wide).eval().requires_grad_(False))


def states(bench: Bench, seeds: range) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Codes and last hidden state of each seed's stream after 20 frames in one batch."""
    sessions = []
    for seed in seeds:
        opening = start(TEXT + " more" * seed, seed=seed)
        submit = bench.desk.submit(seed, opening, opening.text, done=True)
        sessions.append(open_session(submit, bench.checkpoint.config))
    for slot, session in enumerate(sessions):
        bench.runner.prefill(session, slot)
    for _ in range(20):
        bench.runner.predict(sessions)
        bench.runner.talk(sessions)
    return [(bench.runner.spoken_codes(s), bench.runner.hidden[s.slot].clone()) for s in sessions]


def test_at_the_shipped_widths_rows_agree(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    bench = Bench(shipped_widths(checkpoint(CUSTOM)))
    alone = [states(bench, range(seed, seed + 1))[0] for seed in range(4)]
    for (codes, hidden), (own_codes, own_hidden) in zip(
        states(bench, range(4)), alone, strict=True
    ):
        assert torch.equal(codes, own_codes)
        torch.testing.assert_close(hidden, own_hidden, atol=1e-4, rtol=1e-4)
