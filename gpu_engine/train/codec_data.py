"""The codec's training data: one long recording on the device, cut at random inside the step."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from gpu_engine.config import SAMPLE_RATE

LABEL_SAMPLES = 600  # phones are labelled every 25 ms
FRAME_SAMPLES = 1920


class Spoken(Protocol):
    """Utterances of one length: audio float [rows, S] at 24 kHz, S a multiple of 600; phones int
    [rows, S / 600], 0 = silence."""

    @property
    def audio(self) -> Tensor: ...

    @property
    def phones(self) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class Recording:
    """audio float32 [N], phones int64 [N / 600], both on the device."""

    audio: Tensor
    phones: Tensor

    @property
    def seconds(self) -> float:
        return self.audio.numel() / SAMPLE_RATE

    def windows(self, rows: int, frames: int) -> tuple[Tensor, Tensor]:
        """Random cuts: audio [rows, frames * 1920] and two phones a frame, [rows, frames, 2]."""
        samples = frames * FRAME_SAMPLES
        device = self.audio.device
        most = self.audio.numel() - samples
        start = (torch.rand(rows, 1, device=device, dtype=torch.float64) * most).long()
        audio = self.audio[start + torch.arange(samples, device=device)]
        half = FRAME_SAMPLES // 2
        moments = (torch.arange(2 * frames, device=device) * half + half // 2).view(frames, 2)
        phones = self.phones[(start[..., None] + moments) // LABEL_SAMPLES]
        return audio, phones


def record(corpus: Iterable[Spoken], hours: float) -> Recording:
    """Joins a corpus until `hours` are full. Neighbouring utterances should share their speaker."""
    wanted, started = int(hours * 3600 * SAMPLE_RATE), time.monotonic()
    audio: list[Tensor] = []
    phones: list[Tensor] = []
    have = 0
    for batch in corpus:
        audio.append(batch.audio.flatten().float())
        phones.append(batch.phones.flatten())
        have += batch.audio.numel()
        if have >= wanted:
            break
    recording = Recording(torch.cat(audio), torch.cat(phones).long())
    took = time.monotonic() - started
    print(f"recorded {recording.seconds / 3600:.2f} h of speech in {took:.0f} s", flush=True)
    return recording
