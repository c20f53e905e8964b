"""Codec decoder: codes to audio, whole or frame by frame with the same result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import CodecDecoderConfig
from gpu_engine.models.codec.folded import FoldedDecoder
from gpu_engine.models.codec.quantizer import SplitQuantizer
from gpu_engine.models.codec.state import CodecState, Tape, zeros
from gpu_engine.models.codec.transformer import WindowedTransformer

DILATIONS = (1, 3, 9)
WHOLE_BLOCK = 250  # frames a push when a whole utterance is decoded: bounds memory, changes nothing


class CausalConv(nn.Module):
    """Conv1d that sees only the past. Memory: its last (k - 1) * dilation input columns."""

    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int = 1, groups: int = 1):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel, dilation=dilation, groups=groups)
        self.columns = (kernel - 1) * dilation

    def forward(self, x: Tensor, tape: Tape) -> Tensor:
        y: Tensor = self.conv(tape.extend(x, self.columns))
        return y


class CausalUpsample(nn.Module):
    """Transposed conv whose last k - s outputs are dropped. Memory: one input column if k = 2s."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose1d(inputs, outputs, kernel, stride)
        self.columns = kernel // stride - 1
        self.stride = stride

    def forward(self, x: Tensor, tape: Tape) -> Tensor:
        y: Tensor = self.conv(tape.extend(x, self.columns))
        cut = self.columns * self.stride
        return y[..., cut:-cut] if cut else y


class SnakeBeta(nn.Module):
    """x + sin^2(x e^alpha) / (e^beta + 1e-9), alpha and beta a channel, stored as logarithms."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(channels))
        self.beta = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        return snake(x, self.alpha, self.beta)


def snake(x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    """x [B, C, T]; alpha, beta [C]."""
    wave = torch.sin(x * alpha.exp()[:, None])
    return torch.addcmul(x, wave * wave, (beta.exp() + 1e-9).reciprocal()[:, None])


class ConvNeXt(nn.Module):
    """Depthwise causal conv, LayerNorm, two pointwise layers, scaled residual."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dwconv = CausalConv(width, width, 7, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.pwconv2 = nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(torch.full((width,), 1e-6))

    def forward(self, x: Tensor, tape: Tape) -> Tensor:
        h: Tensor = self.norm(self.dwconv(x, tape).transpose(1, 2))
        h = self.pwconv2(F.gelu(self.pwconv1(h)))
        return x + (self.gamma * h).transpose(1, 2)


class ResidualUnit(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.act1 = SnakeBeta(width)
        self.conv1 = CausalConv(width, width, 7, dilation)
        self.act2 = SnakeBeta(width)
        self.conv2 = CausalConv(width, width, 1)

    def forward(self, x: Tensor, tape: Tape) -> Tensor:
        h = self.conv1(self.act1(x), tape)
        y: Tensor = x + self.conv2(self.act2(h), tape)
        return y


class UpsampleBlock(nn.Module):
    """Snake, transposed conv by `rate`, three residual units; halves the width."""

    def __init__(self, inputs: int, outputs: int, rate: int) -> None:
        super().__init__()
        units = [ResidualUnit(outputs, dilation) for dilation in DILATIONS]
        up = CausalUpsample(inputs, outputs, 2 * rate, rate)
        self.block = nn.ModuleList([SnakeBeta(inputs), up, *units])

    def forward(self, x: Tensor, tape: Tape) -> Tensor:
        act, *layers = self.block
        x = act(x)
        for layer in layers:
            x = layer(x, tape)
        return x


class CodecDecoder(nn.Module):
    """Codes [B, groups, T] to audio [B, samples_per_frame * T] in [-1, 1] at 24 kHz."""

    def __init__(self, config: CodecDecoderConfig) -> None:
        super().__init__()
        self.config = config
        latent, width = config.latent_dim, config.decoder_dim
        self.quantizer = SplitQuantizer(config)
        self.pre_conv = CausalConv(config.codebook_dim, latent, 3)
        self.pre_transformer = WindowedTransformer(config)
        self.upsample = nn.ModuleList(
            nn.ModuleList([CausalUpsample(latent, latent, ratio, ratio), ConvNeXt(latent)])
            for ratio in config.upsampling_ratios
        )
        self._folded: FoldedDecoder | None = None
        widths = [width >> step for step in range(len(config.upsample_rates) + 1)]
        blocks = zip(widths, widths[1:], config.upsample_rates, strict=False)
        self.decoder = nn.ModuleList(
            [
                CausalConv(latent, width, 7),
                *(UpsampleBlock(*block) for block in blocks),
                SnakeBeta(widths[-1]),
                CausalConv(widths[-1], 1, 7),
            ]
        )

    def forward(self, codes: Tensor) -> Tensor:
        """A whole utterance in one pass; for long ones `decode` needs less memory."""
        if self._folds(codes):
            return self.step(codes, self.initial_state(codes.shape[0]))[0]
        return self.render(self.quantizer.decode(codes)).clamp(-1, 1)

    def render(self, latents: Tensor) -> Tensor:
        """Latents [B, codebook_dim, T] to unclamped audio; what training differentiates."""
        return self._render(latents, Tape(), None)

    @torch.inference_mode()
    def decode(self, codes: Tensor) -> Tensor:
        """A whole utterance of any length, in blocks that carry their state: equal to streaming."""
        state = self.initial_state(codes.shape[0], codes.device)
        pieces = []
        for block in torch.split(codes, WHOLE_BLOCK, dim=-1):
            audio, state = self.step(block, state)
            pieces.append(audio)
        return torch.cat(pieces, dim=-1)

    def step(self, codes: Tensor, state: CodecState) -> tuple[Tensor, CodecState]:
        """The next n frames a row: codes [B, groups, n] -> audio [B, samples_per_frame * n]."""
        if self._folds(codes):
            self._folded = self._folded or FoldedDecoder(self)
            audio, state = self._folded.step(self.quantizer.decode(codes), state)
            return audio.clamp(-1, 1), state
        tape = Tape(state)
        audio = self._render(self.quantizer.decode(codes), tape, state.position)
        return audio.clamp(-1, 1), tape.close(state.position + codes.shape[-1])

    def _folds(self, codes: Tensor) -> bool:
        return codes.device.type == "cpu" and not torch.is_grad_enabled()

    def refresh(self) -> None:
        """After weights changed in place; moving, loading and `train`/`eval` do it themselves."""
        self._folded = None
        self.quantizer.refresh()

    def train(self, mode: bool = True) -> CodecDecoder:
        self.refresh()
        super().train(mode)
        return self

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self.refresh()
        super()._load_from_state_dict(*args, **kwargs)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> CodecDecoder:
        self.refresh()
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def initial_state(self, rows: int, device: torch.device | str = "cpu") -> CodecState:
        return zeros(self._memory_shapes(), rows, torch.device(device))

    def _render(self, latents: Tensor, tape: Tape, position: Tensor | None) -> Tensor:
        x = self.pre_conv(latents, tape)
        x = self.pre_transformer(x.transpose(1, 2), tape, position).transpose(1, 2)
        for stage in self.upsample:
            up, mix = stage.children()
            x = mix(up(x, tape), tape)
        first, *blocks, act, last = self.decoder
        x = first(x, tape)
        for block in blocks:
            x = block(x, tape)
        audio: Tensor = last(act(x), tape)
        return audio[:, 0]

    def _memory_shapes(self) -> Iterator[tuple[int, ...]]:
        """In call order: see `_render`."""
        yield self.config.codebook_dim, self.pre_conv.columns
        yield from self.pre_transformer.memory_shapes()
        for part in (self.upsample, self.decoder):
            for module in part.modules():
                if isinstance(module, CausalConv | CausalUpsample) and module.columns:
                    yield module.conv.in_channels, module.columns
