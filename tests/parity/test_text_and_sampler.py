"""Token ids with both word patterns, and the processors on known logits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gpu_engine.config import SamplingConfig, read_config
from gpu_engine.models.sampling import RowSampling, SpeechRules, talker_scores, warp
from gpu_engine.models.tokenizer import TextTokenizer
from tests.parity.cases import CUSTOM, GOLDEN, golden, tensor

SETS = {
    "default": (9, SamplingConfig()),
    "first": (0, SamplingConfig()),
    "second": (1, SamplingConfig()),
    "nucleus": (9, SamplingConfig(top_k=30, top_p=0.8, temperature=0.7)),
    "p_only": (9, SamplingConfig(top_k=0, top_p=0.6, temperature=1.3)),
}


@pytest.mark.parametrize("name", SETS)
def test_it_works(name: str, checkpoint_folder: Callable[[str], Path]) -> None:
    expected, (tokens, settings) = golden("sampler"), SETS[name]
    rules = SpeechRules.of(read_config(checkpoint_folder(CUSTOM)).talker)
    logits, history = tensor(expected["logits"]), tensor(expected["history"])
    rows = RowSampling.of([settings] * len(logits))
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter(1, history[:, :tokens], True)
    spoken = torch.full((len(logits),), tokens)
    scores = talker_scores(logits, seen, spoken, rows.repetition_penalty, rules)
    assert torch.equal(scores.argmax(-1), tensor(expected[f"{name}_argmax"]))
    torch.testing.assert_close(warp(scores, rows), tensor(expected[f"{name}_scores"]))


def test_rows_with_different_settings_do_not_touch_each_other(
    checkpoint_folder: Callable[[str], Path],
) -> None:
    expected = golden("sampler")
    rules = SpeechRules.of(read_config(checkpoint_folder(CUSTOM)).talker)
    rows = RowSampling.of([SETS[name][1] for name in ("default", "nucleus", "p_only", "default")])
    logits, history = tensor(expected["logits"]), tensor(expected["history"])
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter(1, history, True)
    scores = talker_scores(logits, seen, torch.full((4,), 9), rows.repetition_penalty, rules)
    warped = warp(scores, rows)
    for row, name in enumerate(("default", "nucleus", "p_only", "default")):
        torch.testing.assert_close(warped[row], tensor(expected[f"{name}_scores"])[row])


def test_tokenizer_with_its_own_word_pattern(checkpoint_folder: Callable[[str], Path]) -> None:
    folder, expected = checkpoint_folder(CUSTOM), _tokens()
    tokenizer = TextTokenizer(folder, read_config(folder).text_ids)
    ours = [tokenizer.encode_with_markers(text) for text in expected["texts"]]
    assert ours == expected["native"]


def test_tokenizer_as_the_reference_reads_a_local_folder(
    checkpoint_folder: Callable[[str], Path],
) -> None:
    folder, expected = checkpoint_folder(CUSTOM), _tokens()
    tokenizer = TextTokenizer(folder, read_config(folder).text_ids, "mistral")
    for text, wrapped in zip(expected["texts"], expected["wrapped_local"], strict=True):
        assert tokenizer.encode_with_markers(text) == wrapped[3:-5]
        assert tokenizer.role == wrapped[:3]


def _tokens() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GOLDEN / "tokenizer.json").read_text("utf-8"))
    return content
