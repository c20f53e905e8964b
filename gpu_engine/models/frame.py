"""The Code Predictor's frame in as few operators as possible: a small model spends its time there.

The same sums as `CodePredictor.forward`, in float32: norm weights are folded into the matrices that
follow, matrices are laid out for plain products, and embeddings are projected once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.models.layers import RMSNorm, TransformerLayer, rope_tables

if TYPE_CHECKING:
    from gpu_engine.models.predictor import Choose, CodePredictor

Module = TypeVar("Module", bound=nn.Module)


class _Layer(NamedTuple):
    qkv: Tensor
    out: Tensor
    gate_up: Tensor
    down: Tensor
    cos: Tensor
    """[positions, heads + kv_heads, D]: rotation with the q or k norm's weight folded in."""
    sin: Tensor


class FrameWeights:
    """A snapshot of a predictor's weights: take a new one when they change."""

    @torch.no_grad()
    def __init__(self, predictor: CodePredictor) -> None:
        config = predictor.config
        self.groups, self.hidden = config.num_code_groups, config.hidden_size
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_dim, self.eps = config.head_dim, config.rms_norm_eps
        device = predictor.model.norm.weight.device
        positions = torch.arange(self.groups, device=device)[None]
        rope = rope_tables(positions, self.head_dim, config.rope_theta, torch.float32)
        turn = rope.cos[0], _signed(rope.sin[0])
        model = predictor.model
        self.layers = [_fold(layer, *turn) for layer in _all(model.layers, TransformerLayer)]
        tables = _all(predictor.codec_embedding, nn.Embedding)
        self.tables = [predictor.project(table.weight) for table in tables]
        heads = _all(predictor.lm_head, nn.Linear)
        self.projections = [_columns(head.weight, model.norm) for head in heads]
        self._eps = torch.tensor(self.eps, device=device)

    def frame(self, first: Tensor, second: Tensor, choose: Choose) -> Tensor:
        """Codes 1..15 of every row, [B, 15], from two vectors [B, hidden] at predictor width."""
        rows = len(first)
        shape = (len(self.layers), 2, rows, self.kv_heads, self.groups, self.head_dim)
        cache = first.new_empty(shape)
        x = self._layers(torch.stack([first, second], 1).flatten(0, 1), cache, 0, 2)
        codes = [choose(1, self._logits(x[1::2], 0))]
        for group in range(1, self.groups - 1):
            x = F.embedding(codes[-1], self.tables[group - 1])
            x = self._layers(x, cache, group + 1, 1)
            codes.append(choose(group + 1, self._logits(x, group)))
        return torch.stack(codes, 1)

    def _logits(self, x: Tensor, head: int) -> Tensor:
        return torch.mm(self._normal(x), self.projections[head])

    def _normal(self, x: Tensor) -> Tensor:
        size = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return x * torch.addcmul(self._eps, size, size, value=1.0 / x.shape[-1]).rsqrt_()

    def _layers(self, x: Tensor, cache: Tensor, start: int, count: int) -> Tensor:
        """x [rows * count, hidden]: the positions start .. start + count - 1 of every row."""
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            context = self._attend(layer, x, keys, values, start, count)
            x = torch.addmm(x, context, layer.out)
            gate, up = torch.mm(self._normal(x), layer.gate_up).chunk(2, -1)
            x = torch.addmm(x, F.silu(gate).mul_(up), layer.down)
        return x

    def _attend(
        self, layer: _Layer, x: Tensor, keys: Tensor, values: Tensor, start: int, count: int
    ) -> Tensor:
        end, turned, dim = start + count, self.heads + self.kv_heads, self.head_dim
        mixed = torch.mm(self._normal(x), layer.qkv)
        mixed = mixed.view(-1, count, turned + self.kv_heads, dim)
        qk = self._normal(mixed[:, :, :turned])
        swapped = qk.roll(dim // 2, -1)
        qk = torch.addcmul(qk * layer.cos[start:end], swapped, layer.sin[start:end])
        keys[:, :, start:end] = qk[:, :, self.heads :].transpose(1, 2)
        values[:, :, start:end] = mixed[:, :, turned:].transpose(1, 2)
        if count == 1:
            # Heads that share a key read it as so many queries: no repeated keys, no mask.
            q = qk[:, 0, : self.heads].view(len(qk), self.kv_heads, -1, dim)
            context = F.scaled_dot_product_attention(q, keys[:, :, :end], values[:, :, :end])
            return context.reshape(len(x), -1)
        q = qk[:, :, : self.heads].transpose(1, 2)
        context = F.scaled_dot_product_attention(
            q, keys[:, :, :end], values[:, :, :end], is_causal=True, enable_gqa=True
        )
        return context.transpose(1, 2).reshape(len(x), -1)


def _all(modules: nn.ModuleList, kind: type[Module]) -> list[Module]:
    """A module list with the type that torch forgets."""
    return [module for module in modules if isinstance(module, kind)]


def _columns(weight: Tensor, norm: RMSNorm) -> Tensor:
    """[inputs, outputs], contiguous, with the weight of the norm before it folded in."""
    return (weight * norm.weight).t().contiguous()


def _signed(sin: Tensor) -> Tensor:
    """sin with the minus of the half-split rotation: x turns as x cos + roll(x) sin."""
    low, high = sin.chunk(2, -1)
    return torch.cat([-low, high], -1)


def _fold(layer: TransformerLayer, cos: Tensor, sin: Tensor) -> _Layer:
    mix, mlp = layer.self_attn, layer.mlp
    qkv = torch.cat([mix.q_proj.weight, mix.k_proj.weight, mix.v_proj.weight])
    gate_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
    gains = mix.q_norm.weight.expand(mix.heads, -1), mix.k_norm.weight.expand(mix.kv_heads, -1)
    gain = torch.cat(gains)
    return _Layer(
        qkv=_columns(qkv, layer.input_layernorm),
        out=mix.o_proj.weight.t().contiguous(),
        gate_up=_columns(gate_up, layer.post_attention_layernorm),
        down=mlp.down_proj.weight.t().contiguous(),
        cos=cos * gain,
        sin=sin * gain.roll(mix.head_dim // 2, -1),
    )
