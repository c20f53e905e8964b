"""Codes, text tokens and alignments on the training device, filled shard by shard."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from torch import Tensor

from gpu_engine.train.alignment import PHONES_PER_FRAME, UNLABELLED
from gpu_engine.train.encode import DONE, REFERENCES


@dataclass(frozen=True, slots=True)
class Capacity:
    """Room that is set aside at the start, so that a captured step never sees memory move."""

    frames: int = 8_000_000
    tokens: int = 12_000_000
    spellings: int = 3
    utterances: int = 250_000
    speakers: int = 320  # those that are given as vectors
    reference_frames: int = 281

    @classmethod
    def for_hours(cls, hours: float, speakers: int = 320) -> Capacity:
        """Room for speech whose utterances last 1.5 s or more on average."""
        return cls(
            speakers=speakers,
            frames=int(hours * 45_000) + 100_000,
            tokens=int(hours * 90_000) + 100_000,
            utterances=int(hours * 2_400) + 10_000,
        )


# Columns of the sample table: where something lies, and how much of it there is.
CODE_AT, FRAMES, TEXT_AT, TOKENS, TARGET_AT, SPEAKER, HELD = range(7)
INSTRUCTION_AT, INSTRUCTION, DESCRIPTION_AT, DESCRIPTION = range(7, 11)
COLUMNS = 11


class CodeStore:
    """`table` int64 [samples, COLUMNS] describes every spelling of every utterance (columns above).

    Instructions and descriptions lie among the tokens. A speaker is a preset's number, or
    `len(presets)` plus the row of its `references` [speakers, REFERENCES, frames, bands]; presets
    have a row as well, under their own number.
    """

    def __init__(
        self,
        presets: Sequence[str],
        device: torch.device,
        capacity: Capacity | None = None,
        groups: int = 16,
        bands: int = 128,
    ) -> None:
        room = capacity or Capacity()
        self.capacity, self.presets = room, list(presets)
        self.codes = torch.zeros(room.frames, groups, dtype=torch.int16, device=device)
        self.phones = torch.full(
            (room.frames, PHONES_PER_FRAME), UNLABELLED, dtype=torch.int16, device=device
        )
        self.tokens = torch.zeros(room.tokens, dtype=torch.int16, device=device)
        self.targets = torch.full(
            (room.frames * room.spellings, 2), -1, dtype=torch.int16, device=device
        )
        self.table = torch.zeros(
            room.utterances * room.spellings, COLUMNS, dtype=torch.int64, device=device
        )
        clips = room.speakers, REFERENCES, room.reference_frames, bands
        self.references = torch.zeros(clips, dtype=torch.float16, device=device)
        self.reference_counts = torch.zeros(room.speakers, dtype=torch.int64, device=device)
        self.known = np.zeros(room.speakers, np.bool_)  # which rows hold a recording
        self.rows = np.zeros((0, COLUMNS), np.int64)
        self.spellings = 1
        self._names = {name: row for row, name in enumerate(presets)}
        self._used = [0, 0, 0]  # frames, tokens, targets
        self._read: set[Path] = set()

    @property
    def seconds(self) -> float:
        return self._used[0] * 0.08

    def refresh(self, folder: Path) -> int:
        """Reads the shards that are new in `folder`; how many there were."""
        new = sorted(set(folder.glob("*.safetensors")) - self._read)
        for path in new:
            self.add(path)
        return len(new)

    def add(self, path: Path) -> None:
        """Raises ValueError when the shard does not fit."""
        self._read.add(path)
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = {key: json.loads(text) for key, text in file.metadata().items()}
        rows = self._rows(tensors, metadata["speakers"])
        start = self._used[0]
        self._append(self.codes, tensors["codes"], 0)
        self.phones[start : self._used[0]] = tensors["phones"].to(self.phones.device)
        self._append(self.tokens, torch.cat([tensors["tokens"], tensors["told"]]), 1)
        self._append(self.targets, tensors["targets"], 2)
        for name, mel in zip(metadata["references"], tensors.get("references", ()), strict=True):
            self._add_reference(name, mel)
        start = len(self.rows)
        self.table[start : start + len(rows)] = torch.from_numpy(rows)
        self.rows = np.concatenate([self.rows, rows])

    def _rows(self, tensors: dict[str, Tensor], names: list[str]) -> NDArray[np.int64]:
        frames, counts = tensors["frames"].long().numpy(), tensors["token_counts"].long().numpy()
        self.spellings = counts.shape[1]
        each, tokens = np.repeat(frames, self.spellings), counts.reshape(-1)
        speakers = np.array([self._speaker(name) for name in names])
        told = tensors["told_counts"].long().numpy()
        told_at = _offsets(told.reshape(-1)).reshape(-1, 2) + self._used[1] + tokens.sum()
        between = np.stack([told_at, told], 2).reshape(-1, 4)  # at, count, at, count
        columns = [
            np.repeat(_offsets(frames), self.spellings) + self._used[0],
            each,
            _offsets(tokens) + self._used[1],
            tokens,
            _offsets(each) + self._used[2],
            np.repeat(speakers, self.spellings),
            np.repeat(tensors["held"].long().numpy(), self.spellings),
        ]
        return np.column_stack([*columns, np.repeat(between, self.spellings, 0)])

    def _row(self, name: str) -> int:
        row = self._names.setdefault(name, len(self._names))
        if row >= self.capacity.speakers:
            raise ValueError(f"more than {self.capacity.speakers} speakers")
        return row

    def _speaker(self, name: str) -> int:
        row = self._row(name)
        return row if row < len(self.presets) else len(self.presets) + row

    def _append(self, room: Tensor, values: Tensor, kind: int) -> None:
        start, end = self._used[kind], self._used[kind] + len(values)
        if end > len(room):
            raise ValueError(f"the corpus outgrew its room of {len(room)} entries")
        room[start:end] = values.to(room.device)
        self._used[kind] = end

    def _add_reference(self, name: str, mel: Tensor) -> None:
        row = self._row(name)
        count = int(self.reference_counts[row])
        if count < REFERENCES:
            self.references[row, count] = mel[: self.capacity.reference_frames].to(self.references)
            self.reference_counts[row] = count + 1
            self.known[row] = True


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(sizes) - sizes


def finished(folder: Path, writers: int) -> bool:
    """Whether all `writers` have said that they are done."""
    return len(list(folder.glob(f"*.{DONE}"))) >= writers
