"""A clip as it stands in a page: an MP3 and a picture of its spectrum, both as data URLs."""

from __future__ import annotations

import base64
import io

import lameenc
import matplotlib
import numpy as np
import torch
from PIL import Image

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.models.speaker import log_mel
from tests.speech.clips import audio_of
from tests.speech.listening import Recording

KILOBITS = 32
BANDS, FRAMES_A_PIXEL = 64, 2
QUIETEST, LOUDEST = -7.0, 2.0  # of the natural logarithm of a mel band


def _url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def mp3(clip: Recording) -> str:
    lame = lameenc.Encoder()
    lame.set_in_sample_rate(SAMPLE_RATE)
    lame.set_channels(1)
    lame.set_bit_rate(KILOBITS)
    lame.set_quality(2)
    lame.silence()
    return _url("audio/mpeg", bytes(lame.encode(clip.samples().tobytes()) + lame.flush()))


def spectrogram(clip: Recording) -> str:
    """Low tones at the bottom; a pixel is 21 ms wide."""
    mel = log_mel(audio_of(clip)[None], BANDS)[0]
    whole = mel[: len(mel) // FRAMES_A_PIXEL * FRAMES_A_PIXEL]
    narrow = whole.unflatten(0, (-1, FRAMES_A_PIXEL)).mean(1)
    level = ((narrow - QUIETEST) / (LOUDEST - QUIETEST)).clamp(0, 1)
    picture = matplotlib.colormaps["magma"](torch.flip(level.T, [0]).numpy(), bytes=True)
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture[..., :3])).save(file, "webp", quality=55)
    return _url("image/webp", file.getvalue())
