"""A corpus of speech to shards of codes, text tokens and their alignment, ready to train on.

Speech is cut to a fixed breath of silence at both ends, so that the Talker learns when to stop.
Shards are small safetensors files that a training run can pick up while later ones are being made.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from tokenizers import Tokenizer
from torch import Tensor

from gpu_engine.config import SAMPLE_RATE, read_config
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.train.alignment import Phones, Words, frame_phones, token_targets
from gpu_engine.train.corpus import SpeechBatch, Utterance
from gpu_engine.train.holdout import held_out
from gpu_engine.train.tokenizer import text_encoder

FRAME = 1920
WINDOW = 240  # 10 ms
LEAD, TAIL = 8, 20  # windows of silence kept before and after the speech
FLOOR = 0.0056  # of the loudest window: 45 dB below it
REFERENCES = 6  # recordings kept per speaker for the speaker encoder
REFERENCE_SAMPLES = 3 * SAMPLE_RATE
APART = 0.5  # of the joined utterances, as a reference and what is said in its voice
DONE = "done"

EncodeCodes = Callable[[Tensor], Tensor]  # audio [B, S] -> codes [B, groups, frames]
EncodeMel = Callable[[Tensor], Tensor]  # audio [B, S] -> mel [B, frames, bands]


@dataclass(frozen=True, slots=True)
class Spellings:
    """Tokenizers of one vocabulary; the first is the canonical one, the others skip merges. `wrap`:
    an instruction or description as a prompt begins with it."""

    tokenizers: list[Tokenizer]
    wrap: Callable[[str], list[int]]

    @classmethod
    def of(cls, folder: Path, variants: int = 3, dropout: float = 0.1) -> Spellings:
        rates = [None, *[dropout] * (variants - 1)]
        served = TextTokenizer(folder, read_config(folder).text_ids)
        return cls([text_encoder(folder, rate) for rate in rates], served.wrap_instruction)


@dataclass(slots=True)
class Shard:
    """Utterances in order; `tokens` and `targets` hold every spelling of one before the next;
    `told` has each one's instruction and its description, as tokens or empty; `held` marks those
    whose text is kept for validation."""

    speakers: list[str] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    codes: list[Tensor] = field(default_factory=list)
    phones: list[Phones] = field(default_factory=list)
    tokens: list[list[int]] = field(default_factory=list)
    targets: list[NDArray[np.int16]] = field(default_factory=list)
    told: list[list[int]] = field(default_factory=list)
    references: list[tuple[str, Tensor]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.speakers)

    def to_bytes(self) -> bytes:
        """codes int16 [F, groups], phones int16 [F, 2], frames int32 [U], held bool [U], tokens
        int16, token_counts int32 [U, spellings], targets int16 [sum, 2], told int16, told_counts
        int32 [U, 2], references float16 [R, frames, bands]."""
        spellings = len(self.tokens) // max(1, len(self))
        counts = torch.tensor([len(ids) for ids in self.tokens], dtype=torch.int32)
        tensors = {
            "codes": torch.cat(self.codes).to(torch.int16),
            "phones": torch.from_numpy(np.concatenate(self.phones)),
            "held": torch.tensor(self.held),
            "frames": torch.tensor([len(codes) for codes in self.codes], dtype=torch.int32),
            "tokens": torch.tensor([i for ids in self.tokens for i in ids], dtype=torch.int16),
            "token_counts": counts.view(len(self), spellings),
            "targets": torch.from_numpy(np.concatenate(self.targets)),
            "told": torch.tensor([i for ids in self.told for i in ids], dtype=torch.int16),
            "told_counts": torch.tensor([len(ids) for ids in self.told], dtype=torch.int32).view(
                len(self), 2
            ),
        }
        if self.references:
            mels = torch.stack([mel for _, mel in self.references])
            tensors["references"] = mels.to(torch.float16)
        names = [name for name, _ in self.references]
        metadata = {"speakers": json.dumps(self.speakers), "references": json.dumps(names)}
        return save(tensors, metadata)


@dataclass(frozen=True, slots=True)
class Piece:
    """An utterance whose times count from its first frame. `texts` are spelled one by one: a text
    after another has a space before it, a text after a reference's transcript has not."""

    texts: tuple[str, ...]
    speaker: str
    codes: Tensor
    phones: Phones
    words: Words | None
    held: bool
    instruction: str = ""
    description: str = ""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def followed_by(self, other: Piece, apart: bool = False) -> Piece:
        """Both as one: sentences of a longer text, or, `apart`, what a voice is cloned from in
        context and what it says then. What describes the first describes the longer text."""
        words = None
        if self.words is not None and other.words is not None:
            letters = len(self.text) + (not apart)
            seconds = len(self.codes) * FRAME / SAMPLE_RATE
            placed = (other.words[:, :1] >= 0) * letters
            later = other.words + np.array([0, 0, seconds, seconds], np.float32)
            later[:, :2] += placed
            words = np.concatenate([self.words, later])
        return Piece(
            (self.text, other.text) if apart else (f"{self.text} {other.text}",),
            self.speaker,
            torch.cat([self.codes, other.codes]),
            np.concatenate([self.phones, other.phones]),
            words,
            self.held or other.held,
            description="" if apart else self.description,
        )


def encode_corpus(
    corpus: Iterable[SpeechBatch],
    encode: EncodeCodes,
    mel: EncodeMel | None,
    spellings: Spellings,
    size: int = 2000,
    joined: float = 0.0,
) -> Iterator[Shard]:
    """Shards of about `size` utterances; a speaker's first recordings become references. `joined`:
    share of utterances that also stand behind the speaker's one before, as one longer text."""
    shard, taken, rng = Shard(), dict[str, int](), Random(1)
    before = dict[str, Piece]()
    for batch in corpus:
        speech = trim(batch.audio)
        codes = encode(speech.audio).transpose(1, 2).cpu()
        if mel is not None:
            for row in _references(batch, speech, taken):
                clip = speech.audio[row : row + 1, :REFERENCE_SAMPLES]
                shard.references.append((batch.utterances[row].speaker, mel(clip)[0].cpu()))
        for row, utterance in enumerate(batch.utterances):
            piece = _piece(utterance, codes[row, : speech.frames[row]], speech.starts[row])
            _add(shard, piece, spellings)
            if piece.instruction or not piece.speaker:
                continue  # its neighbours sound otherwise
            if rng.random() < joined and piece.speaker in before:
                both = before.pop(piece.speaker).followed_by(piece, rng.random() < APART)
                _add(shard, both, spellings)
            else:
                before[piece.speaker] = piece
        if len(shard) >= size:
            yield shard
            shard = Shard()
    if len(shard):
        yield shard


def _references(batch: SpeechBatch, speech: Trimmed, taken: dict[str, int]) -> Iterator[int]:
    for row, utterance in enumerate(batch.utterances):
        long_enough = speech.frames[row] * FRAME >= REFERENCE_SAMPLES
        usual = utterance.speaker and not utterance.instruction
        if long_enough and usual and taken.get(utterance.speaker, 0) < REFERENCES:
            taken[utterance.speaker] = taken.get(utterance.speaker, 0) + 1
            yield row


def _piece(utterance: Utterance, codes: Tensor, start: float) -> Piece:
    phones = frame_phones(utterance.phones, start, len(codes), FRAME / SAMPLE_RATE)
    words = utterance.words
    if words is not None:
        words = words - np.array([0, 0, start, start], np.float32)
    return Piece(
        (utterance.text,),
        utterance.speaker,
        codes,
        phones,
        words,
        held_out(utterance.text),
        utterance.instruction,
        utterance.description,
    )


def spell(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[list[int], list[tuple[int, int]]]:
    """Token ids of the texts in a row, and which characters of all of them each stands for."""
    ids: list[int] = []
    offsets: list[tuple[int, int]] = []
    letters = 0
    for text in texts:
        encoding = tokenizer.encode(text)
        ids += encoding.ids
        offsets += [(letters + a, letters + b) for a, b in encoding.offsets]
        letters += len(text)
    return ids, offsets


def _add(shard: Shard, piece: Piece, spellings: Spellings) -> None:
    encoded = [spell(tokenizer, piece.texts) for tokenizer in spellings.tokenizers]
    codes = piece.codes
    if not len(codes) or not encoded[0][0]:
        return
    times = (np.arange(len(codes), dtype=np.float32) + 0.5) * (FRAME / SAMPLE_RATE)
    shard.speakers.append(piece.speaker)
    shard.held.append(piece.held)
    shard.codes.append(codes)
    shard.phones.append(piece.phones)
    said = piece.instruction, piece.description
    shard.told += [spellings.wrap(text) if text else [] for text in said]
    for ids, offsets in encoded:
        shard.tokens.append(ids)
        if piece.words is None:
            shard.targets.append(np.full((len(codes), 2), -1, np.int16))
        else:
            shard.targets.append(token_targets(piece.words, offsets, times))


@dataclass(frozen=True, slots=True)
class Trimmed:
    """`audio` [rows, whole frames], silent after each row's `frames`; `starts` in seconds of the
    original."""

    audio: Tensor
    frames: list[int]
    starts: list[float]


def trim(audio: Tensor) -> Trimmed:
    """Cuts each row to its speech with 80 ms of silence before and 200 ms after it."""
    first, end = speech_bounds(audio)
    frames = ((end - first + FRAME - 1) // FRAME).clamp(min=0)
    width = max(1, int(frames.max())) * FRAME
    index = first[:, None] + torch.arange(width, device=audio.device)
    inside = index < end[:, None]
    cut = audio.gather(1, index.clamp(max=audio.shape[1] - 1)).masked_fill(~inside, 0.0)
    return Trimmed(cut, frames.tolist(), (first / SAMPLE_RATE).tolist())


def speech_bounds(audio: Tensor) -> tuple[Tensor, Tensor]:
    """First and end sample of each row's speech with its silence; equal where there is none."""
    windows = audio.shape[1] // WINDOW
    loud = audio[:, : windows * WINDOW].reshape(-1, windows, WINDOW).square().mean(2).sqrt()
    active = loud > (loud.amax(1, keepdim=True) * FLOOR).clamp(min=1e-5)
    number = torch.arange(windows, device=audio.device)
    first = torch.where(active, number, windows).amin(1)
    last = torch.where(active, number, -1).amax(1)
    spoken = last >= 0
    start = ((first - LEAD).clamp(min=0) * WINDOW).where(spoken, 0)
    end = ((last + 1 + TAIL).clamp(max=windows) * WINDOW).where(spoken, 0)
    return start, end


def write_shards(
    shards: Iterable[Shard], folder: Path, prefix: str = "codes", deadline: float = 0.0
) -> Iterator[Shard]:
    """Writes each shard whole or not at all, then `PREFIX.done`; passes the shards on.

    The first shard that is finished after `deadline` (Unix time, if any) is the last."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, shard in enumerate(shards):
        path = folder / f"{prefix}-{number:04}.safetensors"
        partial = path.with_suffix(".part")
        partial.write_bytes(shard.to_bytes())
        partial.rename(path)
        yield shard
        if deadline and time.time() > deadline:
            break
    (folder / f"{prefix}.{DONE}").touch()
