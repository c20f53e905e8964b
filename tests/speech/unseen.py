"""Ten speakers that no checkpoint has heard, made by the teacher; its environment runs this:

python -m tests.speech.unseen TEACHER FOLDER

writes what they say of the held-out sentences into FOLDER, a clip a sentence, and goes on where it
was stopped. TEACHER is the folder that `make tiny-stage` prepares (docs/training.md).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from gpu_engine.train.corpora.casting import RandomMixes, design_voices, parts_of

# Of random_mixes(every English voice, 3000, seed=2026) ten of those that are farthest from every
# voice of the training: more than a third of each is of other voices, or of other shares of them.
UNSEEN = (
    "0.49*af_sky+0.51*am_onyx",
    "0.42*af_kore+0.58*am_adam",
    "0.13*am_echo+0.42*am_puck+0.45*bm_daniel",
    "0.40*af_jessica+0.12*af_kore+0.48*bf_lily",
    "0.42*af_nova+0.18*af_sarah+0.40*am_eric",
    "0.40*af_bella+0.21*af_sky+0.39*bf_emma",
    "0.58*af_sarah+0.19*am_liam+0.23*am_michael",
    "0.48*af_nova+0.23*am_eric+0.29*bm_daniel",
    "0.64*af_aoede+0.36*am_eric",
    "0.38*bf_lily+0.24*bm_george+0.38*bm_lewis",
)
TRAINING = (1200, 1)  # how many mixes, and their seed
DESIGNS = 32  # of each sex and accent
NEAR = 1 / 3


def parents(mix: str) -> frozenset[str]:
    return frozenset(parts_of(mix))


def distance(one: str, other: str) -> float:
    """The share of a voice that is not the other's: 0 the same, 1 no part in common."""
    mine, theirs = parts_of(one), parts_of(other)
    return 1 - sum(min(share, theirs.get(name, 0.0)) for name, share in mine.items())


def heard_in_training(voices: Iterable[str]) -> list[str]:
    """Those of UNSEEN that are near one of these."""
    known = list(voices)
    return [mix for mix in UNSEEN if min(distance(mix, each) for each in known) < NEAR]


def trained_on(voices: list[str], mixes: RandomMixes) -> list[str]:
    """Every voice of the recipe (gpu_engine/train/family.json), mixes and designs included."""
    count, seed = TRAINING
    return [*voices, *mixes(voices, count, seed=seed), *design_voices(voices, DESIGNS, mixes, seed)]


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
    if near := heard_in_training(trained_on(list(teacher.voices), code.random_mixes)):
        sys.exit(f"training has heard {', '.join(near)}")
    args.folder.mkdir(parents=True, exist_ok=True)
    said = [(n, each) for n, each in enumerate(held_out()) if compared(n, each)]
    said.sort(key=lambda pair: pair[1].kind != "long")  # clones are made from these
    jobs = [
        (args.folder / f"{number:03}.wav", each.words, UNSEEN[turn(number, len(UNSEEN))])
        for number, each in said
    ]
    say(teacher, code.phonemise, jobs)


if __name__ == "__main__":
    main()
