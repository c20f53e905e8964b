"""Speech to train on: a folder of recordings, or anything that a Python function makes.

A *provider* is named `module:function`. It is called with the device to work on and its settings,
and yields `SpeechBatch`es; the audio may stay on the device.
"""

from __future__ import annotations

import json
import wave
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.train.alignment import Phones, Words

BATCH = 16
BREATH_S = 0.4
MANIFEST = "manifest.jsonl"
MANNERS = ("instruction", "description")  # fields of an utterance that may be empty


@dataclass(frozen=True, slots=True)
class Utterance:
    """`words`: when each word is spoken, in seconds from the start of the audio, where known;
    `phones`: label of every 25 ms (0 = silence, UNLABELLED where it is unclear), where known;
    `instruction`: what the speaker was told to do otherwise than usual; `description`: what the
    voice is like for one who has never heard it, and how it speaks. `speaker` is empty where only
    the description says whose voice it is."""

    text: str
    speaker: str
    words: Words | None = None
    phones: Phones | None = None
    instruction: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class SpeechBatch:
    """`audio`: float32 [rows, samples] at 24 kHz, one row an utterance, silence where shorter."""

    utterances: list[Utterance]
    audio: Tensor


def spoken_part(audio: Tensor, utterance: Utterance) -> Tensor:
    """A row up to a breath after its last word, where that is known: batches end in silence."""
    if utterance.words is None:
        return audio
    return audio[: round((float(utterance.words[-1, 3]) + BREATH_S) * SAMPLE_RATE)]


Provider = Callable[[torch.device, dict[str, str]], Iterator[SpeechBatch]]


def open_corpus(
    name: str, device: torch.device, settings: dict[str, str] | None = None
) -> Iterator[SpeechBatch]:
    """`name`: a folder with manifest.jsonl, or `module:function`. Raises ValueError for neither."""
    if Path(name).is_dir():
        return read_folder(Path(name), device)
    module, colon, function = name.partition(":")
    if not colon:
        raise ValueError(f"{name!r} is neither a folder nor module:function")
    provider = cast(Provider, getattr(import_module(module), function))
    return provider(device, settings or {})


def read_folder(folder: Path, device: torch.device) -> Iterator[SpeechBatch]:
    """manifest.jsonl: one object a line with `audio` (a WAV beside it), `text`, `speaker` and
    perhaps `instruction`, `description` and `words`: [[first character, end character, first
    second, end second], ...]."""
    lines = (folder / MANIFEST).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        audio = [torch.from_numpy(read_wav(folder / row["audio"])) for row in batch]
        utterances = [_utterance(row) for row in batch]
        yield SpeechBatch(utterances, pad_sequence(audio, batch_first=True).to(device))


def _utterance(row: dict[str, object]) -> Utterance:
    words = row.get("words")
    times = None if words is None else np.array(words, np.float32).reshape(-1, 4)
    told = (str(row.get(name, "")) for name in MANNERS)
    return Utterance(str(row["text"]), str(row["speaker"]), times, None, *told)


def read_sentences(path: Path, count: int | None = None) -> list[str]:
    """The first tab-separated column of every line that is no comment; `count` spread over them."""
    lines = path.read_text("utf-8").splitlines()
    texts = [line.split("\t")[0] for line in lines if line.strip() and not line.startswith("#")]
    return texts[:: max(1, len(texts) // (count or len(texts)))][:count]


def read_wav(path: Path) -> NDArray[np.float32]:
    """A 16-bit mono WAV at 24 kHz as float32. Raises ValueError for any other kind."""
    with wave.open(str(path), "rb") as file:
        kind = file.getframerate(), file.getnchannels(), file.getsampwidth()
        if kind != (SAMPLE_RATE, 1, 2):
            raise ValueError(f"{path} is not 16-bit mono at 24 kHz: {kind}")
        raw = file.readframes(file.getnframes())
    audio: NDArray[np.float32] = np.frombuffer(raw, "<i2").astype(np.float32)
    return audio / np.float32(32768)


def to_pcm(audio: Tensor) -> NDArray[np.int16]:
    """float32 [samples] to 16 bits."""
    pcm: NDArray[np.int16] = (
        (audio.detach().cpu().clamp(-1, 1) * 32767).round().to(torch.int16).numpy()
    )
    return pcm


def write_wav(path: Path, audio: Tensor) -> None:
    """float32 [samples] at 24 kHz to a 16-bit mono WAV."""
    with wave.open(str(path), "wb") as file:
        file.setframerate(SAMPLE_RATE)
        file.setnchannels(1)
        file.setsampwidth(2)
        file.writeframes(to_pcm(audio).astype("<i2").tobytes())
