"""The Talker: text and codec embeddings in, a hidden state and code 0 of every frame out."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import TalkerConfig
from gpu_engine.models.attention import Attend
from gpu_engine.models.layers import RMSNorm, TransformerLayer, rope_tables
from gpu_engine.models.predictor import CodePredictor


class TextProjection(nn.Module):
    """Text embeddings to the Talker's width."""

    def __init__(self, text_size: int, hidden_size: int) -> None:
        super().__init__()
        self.linear_fc1 = nn.Linear(text_size, text_size)
        self.linear_fc2 = nn.Linear(text_size, hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear_fc2(F.silu(self.linear_fc1(x)))
        return out


class TalkerModel(nn.Module):
    """Both embedding tables, the layers and the final norm."""

    def __init__(self, config: TalkerConfig) -> None:
        super().__init__()
        self.config = config
        self.text_embedding = nn.Embedding(config.text_vocab_size, config.text_hidden_size)
        self.codec_embedding = nn.Embedding(config.vocab_size, config.hidden_size)
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


class Talker(nn.Module):
    """Submodules are named as the official tensors are, so a state dict needs no renaming."""

    def __init__(self, config: TalkerConfig) -> None:
        super().__init__()
        self.config = config
        self.model = TalkerModel(config)
        self.text_projection = TextProjection(config.text_hidden_size, config.hidden_size)
        self.codec_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.code_predictor = CodePredictor(config.code_predictor_config, config.hidden_size)

    @property
    def codec_embedding(self) -> nn.Embedding:
        return self.model.codec_embedding

    @property
    def device(self) -> torch.device:
        return self.codec_head.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.codec_head.weight.dtype

    def forward(self, inputs: Tensor, positions: Tensor, attend: Attend) -> Tensor:
        """`inputs` [B, L, H] at `positions` [B, L] to hidden states [B, L, H], after the norm."""
        hidden: Tensor = self.model(inputs, positions, attend)
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Code-0 logits [..., vocabulary] of hidden states [..., H]."""
        out: Tensor = self.codec_head(hidden)
        return out

    def embed_text(self, ids: Tensor) -> Tensor:
        """Text token ids [...] to the Talker's width, [..., H]."""
        out: Tensor = self.text_projection(self.model.text_embedding(ids))
        return out

    def embed_frame(self, codes: Tensor) -> Tensor:
        """One vector [..., H] for each frame of codes [..., groups]: the sum over its codes."""
        embedded: Tensor = self.codec_embedding(codes[..., 0])
        return embedded + self.code_predictor.embed_codes(codes[..., 1:])
