"""The Code Predictor: codes 1..15 of one frame, one after the other, from a fresh context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gpu_engine.config import PredictorConfig
from gpu_engine.models.attention import Attend, attention
from gpu_engine.models.frame import FrameWeights
from gpu_engine.models.layers import RMSNorm, TransformerLayer, rope_tables

# Picks code `group` (1..15) for every row from logits [B, vocabulary]; returns ids [B].
Choose = Callable[[int, Tensor], Tensor]


class PredictorModel(nn.Module):
    """Embeddings of codes 1..15 (at the Talker's width), the layers and the final norm."""

    def __init__(self, config: PredictorConfig, talker_hidden: int) -> None:
        super().__init__()
        self.config = config
        self.codec_embedding = nn.ModuleList(
            nn.Embedding(config.vocab_size, talker_hidden)
            for _ in range(config.num_code_groups - 1)
        )
        self.layers = nn.ModuleList(
            TransformerLayer(config) for _ in range(config.num_hidden_layers)
        )
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x: Tensor, positions: Tensor, attend: Attend) -> Tensor:
        rope = rope_tables(positions, self.config.head_dim, self.config.rope_theta, x.dtype)
        for index, layer in enumerate(self.layers):
            x = layer(x, rope, attend, index)
        out: Tensor = self.norm(x)
        return out


class CodePredictor(nn.Module):
    """Position 0 is the Talker's hidden state, position 1 code 0, position j + 1 code j."""

    def __init__(self, config: PredictorConfig, talker_hidden: int) -> None:
        super().__init__()
        self.config = config
        self.model = PredictorModel(config, talker_hidden)
        self.lm_head = nn.ModuleList(
            nn.Linear(config.hidden_size, config.vocab_size, bias=False)
            for _ in range(config.num_code_groups - 1)
        )
        if talker_hidden != config.hidden_size:
            self.small_to_mtp_projection = nn.Linear(talker_hidden, config.hidden_size)
        self._folded: FrameWeights | None = None

    def refresh(self) -> None:
        """After weights changed in place; moving, loading and `train`/`eval` do it themselves."""
        self._folded = None

    def train(self, mode: bool = True) -> CodePredictor:
        self.refresh()
        super().train(mode)
        return self

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self.refresh()
        super()._load_from_state_dict(*args, **kwargs)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> CodePredictor:
        self.refresh()
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    @property
    def codec_embedding(self) -> nn.ModuleList:
        return self.model.codec_embedding

    def project(self, x: Tensor) -> Tensor:
        """Talker width to predictor width; what is already that wide passes through."""
        if x.shape[-1] == self.config.hidden_size:
            return x
        out: Tensor = self.small_to_mtp_projection(x)
        return out

    def forward(self, inputs: Tensor, positions: Tensor, attend: Attend) -> Tensor:
        """`inputs` [B, n, Talker or predictor width] to hidden states [B, n, predictor width]."""
        hidden: Tensor = self.model(self.project(inputs), positions, attend)
        return hidden

    def embed_codes(self, codes: Tensor) -> Tensor:
        """Sum of the embeddings of codes 1..15, [..., 15] to [..., Talker width]."""
        tables = self.codec_embedding
        total: Tensor = tables[0](codes[..., 0])
        for group in range(1, len(tables)):
            total = total + tables[group](codes[..., group])
        return total

    def frame(self, hidden: Tensor, code0_embedding: Tensor, choose: Choose) -> Tensor:
        """All of one frame's remaining codes, [B, 15], from two [B, Talker width] vectors."""
        if hidden.dtype == torch.float32 and not torch.is_grad_enabled():
            self._folded = self._folded or FrameWeights(self)
            return self._folded.frame(self.project(hidden), self.project(code0_embedding), choose)
        return self.plain_frame(hidden, code0_embedding, choose)

    def plain_frame(self, hidden: Tensor, code0_embedding: Tensor, choose: Choose) -> Tensor:
        """`frame` by way of `forward`: any dtype, and the measure of every faster way."""
        attend = FrameAttend(self.config, hidden)
        x = torch.stack([hidden, code0_embedding], 1)
        codes = [choose(1, self._step(x, 0, 0, attend))]
        for group in range(1, len(self.lm_head)):
            x = self.codec_embedding[group - 1](codes[-1])[:, None]
            codes.append(choose(group + 1, self._step(x, group + 1, group, attend)))
        return torch.stack(codes, 1)

    def _step(self, x: Tensor, start: int, head: int, attend: Attend) -> Tensor:
        positions = torch.arange(start, start + x.shape[1], device=x.device)[None]
        logits: Tensor = self.lm_head[head](self(x, positions, attend)[:, -1])
        return logits


class FrameAttend:
    """The at most 16 keys and values of one frame, preallocated."""

    def __init__(self, config: PredictorConfig, like: Tensor) -> None:
        shape = (
            config.num_hidden_layers,
            like.shape[0],
            config.num_code_groups,
            config.num_key_value_heads,
            config.head_dim,
        )
        self.keys, self.values = like.new_empty(shape), like.new_empty(shape)
        self._filled = [0] * config.num_hidden_layers

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        start, end = self._filled[layer], self._filled[layer] + q.shape[1]
        self._filled[layer] = end
        keys, values = self.keys[layer, :, :end], self.values[layer, :, :end]
        keys[:, start:], values[:, start:] = k, v
        return attention(q, keys, values, causal=end == q.shape[1])
