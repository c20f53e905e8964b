"""Clones of speakers that no checkpoint has heard, and whom they sound like: `make eval-cloning`.

python -m tests.speech.cloning --base build/base

References are what the teacher's unseen speakers say of the long held-out sentences
(tests/speech/unseen.py). Each is cloned by its speaker embedding alone and in context, and says
other held-out sentences. Whom a clone sounds like is asked of the project's speaker encoder and of
one that has no part in it. Clips stay in --work: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gpu_engine.audio import with_closing_silence
from gpu_engine.bench.machine import describe
from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from gpu_engine.models.prompt import PromptRequest, Reference
from tests.speech.clips import audio_of
from tests.speech.listening import EARS, KINDS, ROOT, Recording, Sentence, can_hear, held_out, turn
from tests.speech.speaking import BATCH, Job, by_checkpoint
from tests.speech.unseen import UNSEEN

WAYS = ("x-vector", "in context")
SENTENCES_A_REFERENCE = 5
SHORTEST, LONGEST = 5.0, 10.0  # seconds of a reference
SAID = ("plain", "questions", "names")  # kinds that clones say
Vectors = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Original:
    """What a clone is made from. `speaker` is its place in UNSEEN."""

    speaker: int
    recording: Recording


@dataclass(frozen=True)
class Trial:
    original: Original
    way: str
    sentence: Sentence
    number: int
    file: Path


def originals(teacher: Path) -> list[Original]:
    """The teacher's long clips, two a speaker."""
    found = [
        Original(turn(number, len(UNSEEN)), Recording(each, teacher / f"{number:03}.wav"))
        for number, each in enumerate(held_out())
        if each.kind == "long" and (teacher / f"{number:03}.wav").exists()
    ]
    return [each for each in found if SHORTEST <= each.recording.seconds <= LONGEST]


def trials(found: Sequence[Original], folder: Path) -> Iterator[Trial]:
    """Each original says sentences of its own share of those that clones say, both ways. All say
    their first ones first: however far a run comes, it has heard every speaker."""
    said = [(n, each) for n, each in enumerate(held_out()) if each.kind in SAID]
    for step, way in product(range(SENTENCES_A_REFERENCE), WAYS):
        for original in found:
            stem = original.recording.file.stem  # the number of what it says
            place = int(stem) // KINDS * SENTENCES_A_REFERENCE + step
            number, sentence = said[place % len(said)]
            name = f"{stem}-{way[0]}-{number:03}.wav"
            yield Trial(original, way, sentence, number, folder / name)


def prompt(base: Checkpoint, trial: Trial) -> PromptRequest:
    """As the engine makes it: the embedding of the clip alone, its codes with silence behind it."""
    speaker, encoder = base.speaker_encoder, base.codec_encoder
    clip = audio_of(trial.original.recording)
    if speaker is None or encoder is None:
        raise SystemExit(f"{base.folder} is no Base checkpoint with encoders")
    reference = None
    if trial.way == "in context":
        closed = torch.from_numpy(with_closing_silence(clip.numpy()))
        text = trial.original.recording.sentence.text
        reference = Reference(text, encoder.encode(closed[None])[0].T)
    embedding = speaker.embed(clip)
    return PromptRequest(trial.sentence.text, "english", embedding=embedding, reference=reference)


@torch.inference_mode()
def speak(base: Checkpoint, asked: list[Trial]) -> None:
    """Batch by batch, so that prompts are only made of what is missing."""
    say = by_checkpoint(base)
    missing = [each for each in asked if not each.file.exists()]
    for start in range(0, len(missing), BATCH):
        part = missing[start : start + BATCH]
        say([Job(each.sentence, prompt(base, each), each.number, each.file) for each in part])


def own_ears(base: Checkpoint, clips: Sequence[Recording]) -> Vectors:
    assert base.speaker_encoder is not None
    vectors = {each.file.name: base.speaker_encoder.embed(audio_of(each)) for each in clips}
    return {name: (v / v.norm()).numpy() for name, v in vectors.items()}


def other_ears(clips: Sequence[Recording]) -> Vectors:
    """Resemblyzer's; all clips lie in one folder."""
    done = subprocess.run(
        [str(EARS), "-m", "tests.speech.likeness", str(clips[0].file.parent)],
        input=json.dumps([each.file.name for each in clips]),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: np.array(vector, np.float32) for name, vector in found.items()}


def likeness(trial: Trial, every: Sequence[Original], vectors: Vectors) -> dict[str, Any]:
    """Cosines with its own reference and, at most and on average, with the other speakers'."""
    clone = vectors[trial.file.name]

    def near(original: Original) -> float:
        return float(clone @ vectors[original.recording.file.name])

    others = [near(each) for each in every if each.speaker != trial.original.speaker]
    own = near(trial.original)
    return {
        "own": round(own, 4),
        "others": round(fmean(others), 4),
        "nearest_other": round(max(others), 4),
        "is_own": own > max(others),
    }


def figures(found: Sequence[dict[str, Any]]) -> dict[str, float]:
    own = [each["own"] for each in found]
    return {
        "own_speaker_share": round(fmean(each["is_own"] for each in found), 4),
        "own": round(fmean(own), 4),
        "own_p5": round(float(np.quantile(own, 0.05)), 4),
        "others": round(fmean(each["others"] for each in found), 4),
    }


def between(every: Sequence[Original], vectors: Vectors) -> dict[str, float]:
    """What the references themselves score: the same speaker's two, and different speakers'."""
    same, different = [], []
    for place, one in enumerate(every):
        for other in every[:place]:
            pair = vectors[one.recording.file.name] @ vectors[other.recording.file.name]
            (same if one.speaker == other.speaker else different).append(float(pair))
    return {"same_speaker": round(fmean(same), 4), "different_speakers": round(fmean(different), 4)}


def report(base: Checkpoint, every: list[Original], asked: list[Trial]) -> dict[str, Any]:
    clips = [Recording(each.sentence, each.file) for each in asked]
    references = [each.recording for each in every]
    ears = {
        "encoder": own_ears(base, [*references, *clips]),
        "resemblyzer": other_ears(references) | other_ears(clips),
    }
    rows = [
        {
            "speaker": UNSEEN[each.original.speaker],
            "reference": each.original.recording.file.name,
            "way": each.way,
            "text": each.sentence.text,
            "clip": each.file.name,
            **{name: likeness(each, every, vectors) for name, vectors in ears.items()},
        }
        for each in asked
    ]
    seconds = [each.seconds for each in references]
    return {
        "machine": describe() | {"command": "make eval-cloning"},
        "checkpoint": base.fingerprint,
        "trials": len(rows),
        "speakers": len({each.speaker for each in every}),
        "references": len(every),
        "reference_seconds": [round(min(seconds), 1), round(max(seconds), 1)],
        **{name: figures([row[name] for row in rows]) for name in ears},
        "between_references": {name: between(every, vectors) for name, vectors in ears.items()},
        "ways": {
            way: {"trials": len(of_way)}
            | {name: figures([row[name] for row in of_way]) for name in ears}
            for way in WAYS
            if (of_way := [row for row in rows if row["way"] == way])
        },
        "rows": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--base", type=Path, required=True, help="Base checkpoint with both encoders")
    add("--teacher", type=Path, default=ROOT / "build" / "speech" / "teacher", help="its clips")
    add("--work", type=Path, default=ROOT / "build" / "speech", help="folder that is kept")
    add("--out", type=Path, default=ROOT / "docs" / "benchmarks" / "cloning.json")
    add("--threads", type=int, default=1, help="of the checkpoint")
    add("--partly", action="store_true", help="clone nothing new: report what there is")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if not can_hear():
        raise SystemExit(f"No recogniser at {EARS}: whom clones sound like is not known.")
    if not (every := originals(args.teacher)):
        raise SystemExit(f"{args.teacher} holds no clip of the teacher: docs/voices.md says how")
    base = load_checkpoint(args.base)
    folder = args.work / f"{base.fingerprint}-clones"
    folder.mkdir(parents=True, exist_ok=True)
    asked = list(trials(every, folder))
    if not args.partly:
        speak(base, asked)
    found = report(base, every, [each for each in asked if each.file.exists()])
    args.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    for way, of_way in found["ways"].items():
        print(way, *(f"{name}: {of_way[name]}" for name in ("resemblyzer", "encoder")), sep="\n  ")


if __name__ == "__main__":
    main()
