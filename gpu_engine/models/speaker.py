"""A recording to the vector that fills the speaker slot: log-mel spectrogram and ECAPA-TDNN."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import SAMPLE_RATE, SpeakerEncoderConfig

FFT_SIZE = 1024
HOP = 256
VARIANCE_FLOOR = 1e-12


def log_mel(audio: Tensor, bands: int = 128) -> Tensor:
    """Audio [B, S] at 24 kHz to natural-log mel magnitudes [B, frames, bands], float32."""
    return windows_to_mel(padded(audio.float()), bands)


def padded(audio: Tensor) -> Tensor:
    """Audio [B, S] with what the first and the last window hear beyond it."""
    edge = (FFT_SIZE - HOP) // 2
    return F.pad(audio[:, None], (edge, edge), mode="reflect")[:, 0]


def windows_to_mel(audio: Tensor, bands: int) -> Tensor:
    """Every whole window of padded audio [B, S] by itself."""
    window = torch.hann_window(FFT_SIZE, device=audio.device)
    spectrum = torch.stft(audio, FFT_SIZE, HOP, window=window, center=False, return_complex=True)
    magnitude = (spectrum.real.square() + spectrum.imag.square() + 1e-9).sqrt()
    filters = mel_filters(bands).to(audio.device)
    return (filters @ magnitude).clamp(min=1e-5).log().transpose(1, 2)


@lru_cache(maxsize=4)
def mel_filters(bands: int, rate: int = SAMPLE_RATE, window: int = FFT_SIZE) -> Tensor:
    """Slaney-scaled, area-normalised triangles up to rate / 2, float32 [bands, window / 2 + 1]."""
    bins = torch.linspace(0, rate / 2, window // 2 + 1, dtype=torch.float64)
    top = _hertz_to_mel(rate / 2)
    edges = _mel_to_hertz(torch.linspace(0, top, bands + 2, dtype=torch.float64))
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (bins - low) / (middle - low), (high - bins) / (high - middle)
    triangles = torch.minimum(rising, falling).clamp(min=0)
    return (triangles * (2.0 / (high - low))).float()


# Slaney's scale: linear up to 1 kHz at 3 mel per 200 Hz, logarithmic above.
_LINEAR_MELS = 15.0
_LOG_STEP = math.log(6.4) / 27.0


def _hertz_to_mel(hertz: float) -> float:
    if hertz < 1000.0:
        return hertz * 3.0 / 200.0
    return _LINEAR_MELS + math.log(hertz / 1000.0) / _LOG_STEP


def _mel_to_hertz(mel: Tensor) -> Tensor:
    above = 1000.0 * torch.exp(_LOG_STEP * (mel - _LINEAR_MELS))
    return torch.where(mel < _LINEAR_MELS, mel * 200.0 / 3.0, above)


class SameConv(nn.Module):
    """Conv1d that keeps the length, padded by reflection."""

    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv1d(
            inputs,
            outputs,
            kernel,
            dilation=dilation,
            padding=(kernel - 1) * dilation // 2,
            padding_mode="reflect",
        )

    def forward(self, x: Tensor) -> Tensor:
        """With the ReLU that follows each of these."""
        return F.relu(self.conv(x))


class Res2Net(nn.Module):
    """Channel groups in a chain: the first passes, each later one also hears the one before."""

    def __init__(self, width: int, scale: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.scale = scale
        part = width // scale
        self.blocks = nn.ModuleList(
            SameConv(part, part, kernel, dilation) for _ in range(scale - 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        first, *rest = x.chunk(self.scale, 1)
        parts = [first]
        for index, (part, block) in enumerate(zip(rest, self.blocks, strict=True)):
            parts.append(block(part if index == 0 else part + parts[-1]))
        return torch.cat(parts, 1)


class SqueezeExcitation(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(width, inner, 1)
        self.conv2 = nn.Conv1d(inner, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        gain: Tensor = self.conv2(F.relu(self.conv1(x.mean(2, keepdim=True))))
        return x * gain.sigmoid()


class SERes2NetBlock(nn.Module):
    def __init__(
        self, config: SpeakerEncoderConfig, width: int, kernel: int, dilation: int
    ) -> None:
        super().__init__()
        self.tdnn1 = SameConv(width, width, 1)
        self.res2net_block = Res2Net(width, config.enc_res2net_scale, kernel, dilation)
        self.tdnn2 = SameConv(width, width, 1)
        self.se_block = SqueezeExcitation(width, config.enc_se_channels)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.se_block(self.tdnn2(self.res2net_block(self.tdnn1(x))))
        return out


class AttentiveStatistics(nn.Module):
    """[B, C, T] to [B, 2C, 1]: mean and deviation over time, weighted by attention a channel."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.tdnn = SameConv(3 * width, inner, 1)
        self.conv = nn.Conv1d(inner, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        even = torch.full_like(x[:, :1], 1.0 / x.shape[2])
        context = [part.expand_as(x) for part in statistics(x, even)]
        weights = self.conv(self.tdnn(torch.cat([x, *context], 1)).tanh()).softmax(2)
        return torch.cat(statistics(x, weights), 1)


def statistics(x: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation over time of [B, C, T], weighted."""
    mean = (weights * x).sum(2, keepdim=True)
    variance = (weights * (x - mean).square()).sum(2, keepdim=True)
    return mean, variance.clamp(min=VARIANCE_FLOOR).sqrt()


class SpeakerEncoder(nn.Module):
    """Log-mel frames [B, T, bands] to one vector a recording, [B, enc_dim]."""

    def __init__(self, config: SpeakerEncoderConfig) -> None:
        super().__init__()
        self.config = config
        first, *inner, last = config.enc_channels
        shapes = zip(inner, config.enc_kernel_sizes[1:], config.enc_dilations[1:], strict=False)
        self.blocks = nn.ModuleList(
            [
                SameConv(config.mel_dim, first, config.enc_kernel_sizes[0]),
                *(SERes2NetBlock(config, *shape) for shape in shapes),
            ]
        )
        self.mfa = SameConv(sum(inner), last, config.enc_kernel_sizes[-1])
        self.asp = AttentiveStatistics(last, config.enc_attention_channels)
        self.fc = nn.Conv1d(2 * last, config.enc_dim, 1)

    def forward(self, mel: Tensor) -> Tensor:
        first, *rest = self.blocks
        x, outputs = first(mel.transpose(1, 2)), []
        for block in rest:
            x = block(x)
            outputs.append(x)
        pooled = self.asp(self.mfa(torch.cat(outputs, 1)))
        out: Tensor = self.fc(pooled)[..., 0]
        return out

    @torch.inference_mode()
    def embed(self, audio: Tensor) -> Tensor:
        """One recording [S] at 24 kHz, mono, to its vector [enc_dim]."""
        weight = self.fc.weight
        out: Tensor = self(log_mel(audio.to(weight.device)[None], self.config.mel_dim).to(weight))
        return out[0]
