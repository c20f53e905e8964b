"""Who speaks in a folder of clips, as Resemblyzer hears it, in the recogniser's environment.

python -m tests.speech.likeness FOLDER < ["clip.wav"]

Prints one JSON object: a vector of length 1 for each clip. They are kept in FOLDER/voices.jsonl.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from tests.speech.hear import RATE, Memory, lazily

LEVEL_DBFS = -30  # what its own loudness step would bring a clip to


def ears() -> Callable[[Path], list[float]]:
    sys.modules.setdefault("webrtcvad", ModuleType("webrtcvad"))  # only for trimming, not done here
    import librosa
    from resemblyzer import VoiceEncoder

    encoder = VoiceEncoder("cpu", verbose=False)

    def voice(clip: Path) -> list[float]:
        audio = librosa.load(clip, sr=RATE, mono=True)[0]
        loudness = np.sqrt(np.mean(audio**2)) or 1.0
        vector = encoder.embed_utterance(audio / loudness * 10 ** (LEVEL_DBFS / 20))
        found: list[float] = np.round(vector, 5).tolist()
        return found

    return voice


def main(folder: Path, names: list[str]) -> dict[str, list[float]]:
    memory, voice = Memory(folder / "voices.jsonl", known_only=False), lazily(ears)
    found = {}
    for place, name in enumerate(names, 1):
        found[name] = memory.get("voice", folder / name, voice)
        if place % 20 == 0 or place == len(names):
            print(f"knew {place} of {len(names)} voices", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), json.load(sys.stdin))))
