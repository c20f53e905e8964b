"""Who speaks in a folder of clips, as Resemblyzer hears it, in the recogniser's environment.

python -m tests.speech.likeness FOLDER < ["clip.wav"]

Prints one JSON object: a vector of length 1 for each clip.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

RATE = 16_000
LEVEL_DBFS = -30  # what its own loudness step would bring a clip to


def main(folder: Path, names: list[str]) -> dict[str, list[float]]:
    sys.modules.setdefault("webrtcvad", ModuleType("webrtcvad"))  # only for trimming, not done here
    import librosa
    from resemblyzer import VoiceEncoder

    encoder, vectors = VoiceEncoder("cpu", verbose=False), {}
    for name in names:
        audio = librosa.load(folder / name, sr=RATE, mono=True)[0]
        loudness = np.sqrt(np.mean(audio**2)) or 1.0
        vectors[name] = encoder.embed_utterance(audio / loudness * 10 ** (LEVEL_DBFS / 20)).tolist()
    return vectors


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), json.load(sys.stdin))))
