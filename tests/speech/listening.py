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
LONE_WORD_SECONDS = 1.0
QUIETEST_DBFS, LOUDEST_DBFS = -35.0, -12.0
CLIPPED = 32_767
KINDS = 10  # of held-out sentences


@dataclass(frozen=True)
class Sentence:
    text: str
    words: str
    kind: str = "plain"


def sentences() -> list[Sentence]:
    """The gate's 40: what a checkpoint is chosen and checked by."""
    return _read("sentences.txt")


def held_out() -> list[Sentence]:
    """The 200 that a checkpoint is judged by; ten kinds take turns."""
    return _read("heldout.txt")


def _read(name: str) -> list[Sentence]:
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return [Sentence(*line.split("\t")) for line in lines if not line.startswith("#")]


def compared(number: int, sentence: Sentence) -> bool:
    """Whether the teacher says this held-out sentence too: a quarter of them, and every long one,
    which are long enough to clone its speaker from."""
    return turn(number, 4) == 0 or sentence.kind == "long"


def turn(number: int, count: int) -> int:
    """Which of `count` voices says held-out sentence `number`: each says some of every kind."""
    return (number + number // KINDS) % count


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
    def is_wrong_length(self) -> bool:
        """Less than half or more than twice as long as usual; a lone word may take longer."""
        expected = len(self.sentence.words) * USUAL_SECONDS_A_CHARACTER
        return not expected / TOO_LONG < self.seconds < expected * TOO_LONG + LONE_WORD_SECONDS

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


def hear(
    recordings: list[Recording], rated: set[str] | None = None, *, known_only: bool = False
) -> dict[str, Any]:
    """The recogniser's report (tests/speech/hear.py). All recordings lie in one folder; `rated` are
    the names of those whose quality is estimated, all of them if it is not given. `known_only`
    leaves out what was not heard before."""
    clips = {each.file.name: each.sentence.words for each in recordings}
    names = sorted(clips if rated is None else rated)
    task = {"clips": clips, "rated": names, "known_only": known_only}
    done = subprocess.run(
        [str(EARS), "-m", "tests.speech.hear", str(recordings[0].file.parent)],
        input=json.dumps(task),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report
