"""The work of both encoders on one recording, cut so that each piece is short: what a large clip
costs at once would be heard by whoever listens to other streams.

Each function is a generator that yields between pieces and returns what the module returns. Along
time it is cut where layers are causal or look at one column alone; attention and what averages over
the whole clip are cut by layers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import torch
from torch import Tensor

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.models.codec.encoder import CodecEncoder
from gpu_engine.models.speaker import (
    FFT_SIZE,
    HOP,
    SERes2NetBlock,
    SpeakerEncoder,
    padded,
    statistics,
    windows_to_mel,
)

Pieces = Generator[None, None, Tensor]

# What the convolutions of the codec's encoder hear before a column of 960 samples: 4,279 samples.
COLUMN, CONTEXT_COLUMNS = 960, 5


def embed_pieces(encoder: SpeakerEncoder, audio: Tensor, seconds: float) -> Pieces:
    """Audio [S] to the vector [enc_dim]. `seconds` of audio are a piece of the codec's encoder;
    this one has a twelfth of its work."""
    columns = max(1, round(12 * seconds * SAMPLE_RATE / HOP))
    weight = encoder.fc.weight
    mel = yield from _log_mel(audio, encoder.config.mel_dim, columns)
    first, *blocks = encoder.blocks
    x, outputs = first(mel.to(weight).transpose(1, 2)), []
    yield
    for block in blocks:
        assert isinstance(block, SERes2NetBlock), "only the first is a convolution alone"
        x = yield from _block(block, x)
        outputs.append(x)
    x = torch.cat(outputs, 1)
    alone = encoder.mfa.conv.kernel_size == (1,)
    wide = yield from _columns(encoder.mfa, x, columns if alone else x.shape[2])
    pooled = yield from _pool(encoder, wide, columns)
    out: Tensor = encoder.fc(pooled)[0, :, 0]
    return out


def code_pieces(encoder: CodecEncoder, audio: Tensor, seconds: float) -> Pieces:
    """Audio [S] to codes [groups, ceil(S / 1920)]."""
    x = yield from _convolutions(encoder, audio, max(1, round(seconds * SAMPLE_RATE / COLUMN)))
    x = x.transpose(1, 2)
    transformer = encoder.encoder_transformer
    table = transformer.rotary(torch.arange(x.shape[1], device=x.device))
    for layer in transformer.layers:
        x = layer(x, table)
        yield
    latents = encoder.downsample(x.transpose(1, 2), mode="replicate")
    frames = max(1, round(seconds * 12.5 * 4))
    codes = yield from _columns(encoder.quantize, latents, frames)
    return codes[0]


def _log_mel(audio: Tensor, bands: int, columns: int) -> Pieces:
    """As `log_mel`: every column is its own window of the padded audio."""
    whole = padded(audio[None].float())
    count = (whole.shape[1] - FFT_SIZE) // HOP + 1
    made = []
    for at in range(0, count, columns):
        end = min(at + columns, count)
        part = whole[:, at * HOP : (end - 1) * HOP + FFT_SIZE]
        made.append(windows_to_mel(part, bands))
        yield
    return torch.cat(made, 1)


def _block(block: SERes2NetBlock, x: Tensor) -> Pieces:
    inner = block.tdnn1(x)
    yield
    inner = block.res2net_block(inner)
    yield
    inner = block.se_block(block.tdnn2(inner))
    yield
    out: Tensor = x + inner
    return out


def _pool(encoder: SpeakerEncoder, x: Tensor, columns: int) -> Pieces:
    """As AttentiveStatistics: only its scores look at one column each."""
    even = torch.full_like(x[:, :1], 1.0 / x.shape[2])
    mean, deviation = statistics(x, even)
    yield

    def scores(part: Tensor) -> Tensor:
        context = [each.expand_as(part) for each in (mean, deviation)]
        out: Tensor = encoder.asp.conv(encoder.asp.tdnn(torch.cat([part, *context], 1)).tanh())
        return out

    weights = (yield from _columns(scores, x, columns)).softmax(2)
    yield
    return torch.cat(statistics(x, weights), 1)


def _convolutions(encoder: CodecEncoder, audio: Tensor, columns: int) -> Pieces:
    """As the encoder's causal convolutions: [1, hidden, ceil(S / 960)]."""
    whole, made = audio.float()[None, None], []
    at, total = 0, -(-len(audio) // COLUMN)
    while at < total:
        # All of one length, the first one too: another would be prepared for.
        before, end = min(at, CONTEXT_COLUMNS), max(at, CONTEXT_COLUMNS) + columns
        part = whole[:, :, (at - before) * COLUMN : end * COLUMN]
        made.append(encoder.encoder(part)[:, :, before:])
        at = end
        yield
    return torch.cat(made, 2)


def _columns(layer: Callable[[Tensor], Tensor], x: Tensor, columns: int) -> Pieces:
    """A layer over [1, C, T] that looks at each column alone."""
    made = []
    for part in torch.split(x, columns, 2):
        made.append(layer(part))
        yield
    return torch.cat(made, 2)
