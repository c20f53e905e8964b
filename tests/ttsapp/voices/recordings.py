"""Recordings to send: something like speech, and much that is not."""

from __future__ import annotations

import io

import numpy as np
import soundfile

RATE = 24_000


def speech(
    seconds: float = 6.0,
    pitch: float = 120.0,
    seed: int = 1,
    melody: tuple[float, float] = (0.15, 0.6),
) -> np.ndarray:
    """Syllables of a harmonic voice with a moving pitch, words apart, over a quiet room. `melody`:
    how far the pitch moves up and down, in octaves, and how often a second."""
    octaves, often = melody
    chance = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    bend = pitch * 2 ** (octaves * np.sin(2 * np.pi * often * time + chance.uniform(0, 6)))
    phase = 2 * np.pi * np.cumsum(bend) / RATE
    voice = sum(np.sin(n * phase) / n for n in range(1, 16))
    syllables = np.clip(np.sin(2 * np.pi * 4 * time), 0, 1) ** 0.5
    words = (np.sin(2 * np.pi * 0.7 * time + 0.4) > -0.6).astype(float)
    room = chance.normal(0, 3e-4, len(time))
    return (0.12 * voice * syllables * words + room).astype(np.float32)


def wav(samples: np.ndarray, rate: int = RATE, subtype: str = "PCM_16") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format="WAV", subtype=subtype)
    return file.getvalue()


def packed(samples: np.ndarray, name: str, rate: int = RATE) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=name)
    return file.getvalue()


def noise(seconds: float = 6.0) -> np.ndarray:
    return np.random.default_rng(2).normal(0, 0.1, round(seconds * RATE)).astype(np.float32)


def two_speakers(seconds: float = 8.0) -> np.ndarray:
    half = seconds / 2
    return np.concatenate((speech(half, 105.0), speech(half, 225.0)))
