"""Sentences, recordings of them, and what a recogniser makes of those."""

from __future__ import annotations

import json
import os
import subprocess
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent.parent
EARS = Path(os.environ.get("PARLANCE_SPEECH_PYTHON", ROOT / ".venv-speech" / "bin" / "python"))

# First gate of the shipped checkpoint: unseen sentences, heard by Whisper base.
LARGEST_WORD_ERROR_RATE = 0.20
USUAL_SECONDS_A_CHARACTER = 0.065
TOO_LONG = 2.0
QUIETEST_DBFS, LOUDEST_DBFS = -35.0, -12.0
CLIPPED = 32_767


@dataclass(frozen=True)
class Sentence:
    text: str
    words: str


def sentences() -> list[Sentence]:
    lines = (Path(__file__).parent / "sentences.txt").read_text("utf-8").splitlines()
    return [Sentence(*line.split("\t")) for line in lines if not line.startswith("#")]


@dataclass(frozen=True)
class Recording:
    """A clip and the figures that need no recogniser."""

    sentence: Sentence
    file: Path

    def samples(self) -> NDArray[np.int16]:
        with wave.open(str(self.file)) as clip:
            return np.frombuffer(clip.readframes(clip.getnframes()), "<i2")

    @property
    def seconds(self) -> float:
        with wave.open(str(self.file)) as clip:
            return clip.getnframes() / clip.getframerate()

    @property
    def seconds_a_character(self) -> float:
        return self.seconds / len(self.sentence.text)

    @property
    def is_too_long(self) -> bool:
        return self.seconds_a_character > TOO_LONG * USUAL_SECONDS_A_CHARACTER

    @property
    def level(self) -> float:
        """RMS in dBFS; minus infinity for silence."""
        samples = self.samples() / 32768
        with np.errstate(divide="ignore"):
            return float(10 * np.log10(np.mean(samples**2))) if len(samples) else -np.inf

    @property
    def clipped(self) -> int:
        return int(np.sum(np.abs(self.samples().astype(np.int32)) >= CLIPPED))

    def figures(self) -> dict[str, Any]:
        return {
            "text": self.sentence.text,
            "seconds": round(self.seconds, 3),
            "ms_a_character": round(1000 * self.seconds_a_character, 1),
            "level_dbfs": round(self.level, 1),
            "clipped_samples": self.clipped,
        }


def can_hear() -> bool:
    return EARS.exists()


def hear(recordings: list[Recording]) -> dict[str, Any]:
    """The recogniser's report (tests/speech/hear.py). All recordings lie in one folder."""
    expected = {each.file.name: each.sentence.words for each in recordings}
    done = subprocess.run(
        [str(EARS), "-m", "tests.speech.hear", str(recordings[0].file.parent)],
        input=json.dumps(expected),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report
