"""Ten speakers that no checkpoint has heard, made by the teacher; its environment runs this:

python -m tests.speech.unseen TEACHER FOLDER

writes what they say of the held-out sentences into FOLDER, a clip a sentence, and goes on where it
was stopped. TEACHER is the folder that `make tiny-stage` prepares (docs/training.md).
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

# The first ten of random_mixes(every English voice, 200, seed=2026) whose voices are not mixed
# together in training's (160, seed=1): no speaker of the training is near one of these.
UNSEEN = (
    "0.57*af_sky+0.43*am_michael",
    "0.57*af_nova+0.43*am_santa",
    "0.29*am_fenrir+0.50*am_puck+0.21*bm_daniel",
    "0.53*af_alloy+0.47*am_fenrir",
    "0.24*af_nicole+0.51*af_river+0.25*am_echo",
    "0.19*am_michael+0.34*bf_alice+0.47*bf_lily",
    "0.39*af_jessica+0.33*af_sarah+0.28*am_fenrir",
    "0.47*bf_isabella+0.53*bm_lewis",
    "0.39*am_michael+0.39*bm_daniel+0.22*bm_fable",
    "0.44*am_eric+0.27*am_puck+0.29*bm_lewis",
)
TRAINING = (160, 1)  # how many mixes, and their seed


def parents(mix: str) -> frozenset[str]:
    return frozenset(part.rpartition("*")[2] for part in mix.split("+"))


def heard_in_training(mixes: list[str]) -> list[str]:
    """Those of UNSEEN whose voices are mixed together in one of these."""
    known = {parents(mix) for mix in mixes}
    return [mix for mix in UNSEEN if parents(mix) in known]


def say(teacher: Any, phonemise: Any, jobs: list[tuple[Path, str, str]]) -> None:
    """Jobs are file, words and mix; what lies there is not said again."""
    import torch

    from tests.speech.clips import save

    for place, (file, words, mix) in enumerate(jobs, 1):
        if not file.exists():
            speech = teacher.synthesise([phonemise(words)], mix)[0]
            save(file, torch.from_numpy(speech.audio))
            print(f"{place} of {len(jobs)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("teacher", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    sys.path.insert(0, str(args.teacher))
    code = import_module("teacher")
    from tests.speech.listening import compared, held_out, turn

    teacher = code.load_teacher(args.teacher / "kokoro")
    if near := heard_in_training(code.random_mixes(list(teacher.voices), *TRAINING)):
        sys.exit(f"training has heard {', '.join(near)}")
    args.folder.mkdir(parents=True, exist_ok=True)
    jobs = [
        (args.folder / f"{number:03}.wav", each.words, UNSEEN[turn(number, len(UNSEEN))])
        for number, each in enumerate(held_out())
        if compared(number, each)
    ]
    say(teacher, code.phonemise, jobs)


if __name__ == "__main__":
    main()
