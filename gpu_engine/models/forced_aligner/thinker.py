"""The language model that has heard the speech and marks each word's start and end in it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gpu_engine.models.attention import CausalAttend
from gpu_engine.models.forced_aligner.config import ForcedAlignerConfig, ThinkerConfig
from gpu_engine.models.forced_aligner.mel import log_mel
from gpu_engine.models.forced_aligner.tower import AudioTower, Steps
from gpu_engine.models.layers import RMSNorm, TransformerLayer, rope_tables

MARKS = 2
"""Timestamps behind each word: its start, its end."""


class ThinkerModel(nn.Module):
    def __init__(self, config: ThinkerConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(
            TransformerLayer(config) for _ in range(config.num_hidden_layers)
        )
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def steps(self, x: Tensor) -> Steps:
        """[1, L, hidden] to the same, after the norm."""
        positions = torch.arange(x.shape[1], device=x.device)[None]
        rope = rope_tables(positions, self.config.head_dim, self.config.rope_theta, x.dtype)
        attend = CausalAttend()
        for index, layer in enumerate(self.layers):
            x = layer(x, rope, attend, index)
            yield
        out: Tensor = self.norm(x)
        return out


class ForcedAligner(nn.Module):
    """Submodules are named as the official tensors are, less their common first name."""

    def __init__(self, config: ForcedAlignerConfig) -> None:
        super().__init__()
        self.config = config
        self.audio_tower = AudioTower(config.tower)
        self.model = ThinkerModel(config.thinker)
        self.lm_head = nn.Linear(config.thinker.hidden_size, config.classes, bias=False)

    def logits(self, audio: Tensor, words: Sequence[Sequence[int]]) -> Steps:
        """Audio [S] at 16 kHz and each word's token ids to logits [2 * words, classes]: a word's
        start, its end."""
        weight = self.lm_head.weight
        mel = log_mel(audio.to(weight.device), self.config.tower.num_mel_bins).to(weight)
        yield
        heard = yield from self.audio_tower.steps(mel)
        ids = torch.tensor(self.prompt(len(heard), words), device=weight.device)
        inputs: Tensor = self.model.embed_tokens(ids)
        inputs[ids == self.config.audio_pad] = heard
        hidden = yield from self.model.steps(inputs[None])
        marked: Tensor = self.lm_head(hidden[0, ids == self.config.timestamp])
        return marked

    def prompt(self, vectors: int, words: Sequence[Sequence[int]]) -> list[int]:
        """The speech between its markers, then every word with its timestamps."""
        config = self.config
        ids = [config.audio_start, *[config.audio_pad] * vectors, config.audio_end]
        for word in words:
            ids += [*word, *[config.timestamp] * MARKS]
        return ids
