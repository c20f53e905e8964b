"""Adversaries of the codec: audio folded by periods, and complex spectra at several resolutions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

PERIODS = (2, 3, 5, 7, 11)
WINDOWS = (2048, 1024, 512)
SLOPE = 0.1

Verdict = tuple[Tensor, list[Tensor]]  # scores of any shape, activations of the layers before


class PeriodDiscriminator(nn.Module):
    """Sees every `period`-th sample as a column."""

    def __init__(self, period: int, width: int) -> None:
        super().__init__()
        self.period = period
        widths = [1, width, 2 * width, 4 * width, 8 * width, 8 * width]
        strides = (3, 3, 3, 3, 1)
        self.convs = nn.ModuleList(
            weight_norm(nn.Conv2d(i, o, (5, 1), (s, 1), (2, 0)))
            for i, o, s in zip(widths, widths[1:], strides, strict=False)
        )
        self.last = weight_norm(nn.Conv2d(widths[-1], 1, (3, 1), padding=(1, 0)))

    def forward(self, audio: Tensor) -> Verdict:
        x = F.pad(audio, (0, -audio.shape[-1] % self.period), mode="reflect")
        return _walk(x.reshape(len(x), 1, -1, self.period), self.convs, self.last)


class SpectrumDiscriminator(nn.Module):
    """Sees real and imaginary parts over time and frequency."""

    window: Tensor

    def __init__(self, window: int, width: int) -> None:
        super().__init__()
        self.size = window
        self.register_buffer("window", torch.hann_window(window), persistent=False)
        self.convs = nn.ModuleList(
            [
                weight_norm(nn.Conv2d(2, width, (3, 9), padding=(1, 4))),
                *(
                    weight_norm(nn.Conv2d(width, width, (3, 9), (1, 2), (d, 4), (d, 1)))
                    for d in (1, 2, 4)
                ),
                weight_norm(nn.Conv2d(width, width, 3, padding=1)),
            ]
        )
        self.last = weight_norm(nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, audio: Tensor) -> Verdict:
        spectrum = torch.stft(
            audio.float(), self.size, self.size // 4, window=self.window, return_complex=True
        )
        x = torch.view_as_real(spectrum).permute(0, 3, 2, 1)
        return _walk(x, self.convs, self.last)


def _walk(x: Tensor, convs: nn.ModuleList, last: nn.Module) -> Verdict:
    activations = []
    for conv in convs:
        x = F.leaky_relu(conv(x), SLOPE)
        activations.append(x)
    return last(x), activations


class Discriminators(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.judges = nn.ModuleList(
            [
                *(PeriodDiscriminator(period, width) for period in PERIODS),
                *(SpectrumDiscriminator(window, width) for window in WINDOWS),
            ]
        )

    def forward(self, audio: Tensor) -> list[Verdict]:
        """audio [B, S]; runs in bfloat16 where the device has it, spectra in float32."""
        # The weight cache of autocast would tie a captured step to tensors that it does not own.
        with torch.autocast(audio.device.type, torch.bfloat16, cache_enabled=False):
            return [judge(audio) for judge in self.judges]


def discriminator_loss(real: list[Verdict], fake: list[Verdict]) -> Tensor:
    """Least squares: real towards 1, fake towards 0; mean over judges."""
    parts = [
        (1 - r.float()).square().mean() + f.float().square().mean()
        for (r, _), (f, _) in zip(real, fake, strict=True)
    ]
    return torch.stack(parts).mean()


def adversarial_loss(fake: list[Verdict]) -> Tensor:
    return torch.stack([(1 - score.float()).square().mean() for score, _ in fake]).mean()


def feature_loss(real: list[Verdict], fake: list[Verdict]) -> Tensor:
    """Mean absolute difference of activations, each relative to the real ones' size."""
    parts = [
        (r.detach() - f).abs().float().mean() / (r.detach().abs().float().mean() + 1e-4)
        for (_, reals), (_, fakes) in zip(real, fake, strict=True)
        for r, f in zip(reals, fakes, strict=True)
    ]
    return torch.stack(parts).mean()
