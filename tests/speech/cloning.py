"""Clones of speakers that no checkpoint has heard, and whom they sound like: `make eval-cloning`.

python -m tests.speech.cloning --base build/base

References are what the teacher's unseen speakers say of the long held-out sentences
(tests/speech/unseen.py). Each is cloned by its speaker embedding alone and in context, and says
other held-out sentences. Whom a clone sounds like is asked of the project's speaker encoder and of
one that has no part in it. Clips and what was heard of them stay in --work: a run that was stopped
goes on. On two cores it takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gpu_engine.bench.engine_client import EngineTarget
from gpu_engine.bench.machine import describe
from gpu_engine.bench.own_engine import own_engine
from gpu_engine.bench.voice_engines import Clip, Engines
from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from tests.speech.clips import audio_of, save
from tests.speech.listening import EARS, ROOT, Recording, Sentence, can_hear, held_out, turn
from tests.speech.unseen import UNSEEN

WAYS = ("x-vector", "in context")
SENTENCES_A_SPEAKER = 10  # by each way: 200 trials of ten speakers
AT_ONCE = 4  # clones that speak
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

    @property
    def key(self) -> tuple[Path, str]:
        """Of the voice that it is said by."""
        return self.original.recording.file, self.way


def originals(teacher: Path) -> list[Original]:
    """The teacher's long clips, two a speaker."""
    found = [
        Original(turn(number, len(UNSEEN)), Recording(each, teacher / f"{number:03}.wav"))
        for number, each in enumerate(held_out())
        if each.kind == "long" and (teacher / f"{number:03}.wav").exists()
    ]
    return [each for each in found if SHORTEST <= each.recording.seconds <= LONGEST]


def trials(found: Sequence[Original], folder: Path) -> Iterator[Trial]:
    """Each speaker says as many sentences of those that clones say, by its references in turn, both
    ways. All say their first ones first: however far a run comes, it has heard every speaker."""
    said = [(n, each) for n, each in enumerate(held_out()) if each.kind in SAID]
    own: dict[int, list[Original]] = {}
    for original in found:
        own.setdefault(original.speaker, []).append(original)
    for step, way in product(range(SENTENCES_A_SPEAKER), WAYS):
        for speaker, originals in sorted(own.items()):
            original = originals[step % len(originals)]
            number, sentence = said[(speaker * SENTENCES_A_SPEAKER + step) % len(said)]
            name = f"{original.recording.file.stem}-{way[0]}-{number:03}.wav"
            yield Trial(original, way, sentence, number, folder / name)


async def speak(base: Path, asked: Sequence[Trial], log: Path) -> None:
    """By an engine of its own, as a tenant's clones are made and spoken with; what lies there is
    not said again. What it refuses is told, and stays unsaid."""
    missing = [each for each in asked if not each.file.exists()]
    if not missing:
        return
    with TemporaryDirectory() as folder:
        async with own_engine(base, "cpu", Path(folder), log) as address:
            engines = Engines(address, address)
            made = {each.key: await _cloned(engines, each) for each in _first_of_each(missing)}
            said, places = count(1), asyncio.Semaphore(AT_ONCE)

            async def say(trial: Trial) -> None:
                async with places:
                    take = await made[trial.key].speak(trial.sentence.text, trial.number)
                if not take.failure:
                    samples = np.frombuffer(bytes(take.pcm), "<i2").astype(np.float32) / 32768
                    save(trial.file, torch.from_numpy(samples))
                print(f"said {next(said)} of {len(missing)} {take.failure}".rstrip(), flush=True)

            await asyncio.gather(*map(say, missing))


def _first_of_each(asked: Sequence[Trial]) -> list[Trial]:
    """One a voice."""
    return list({each.key: each for each in reversed(asked)}.values())


async def _cloned(engines: Engines, trial: Trial) -> EngineTarget:
    clip = Clip(audio_of(trial.original.recording).numpy(), trial.original.recording.sentence.text)
    made = await engines.make(clip, in_context=trial.way == "in context")
    return replace(made.target(engines.clones), profile="throughput", language="english")


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


def report(base: Checkpoint, every: list[Original], wanted: list[Trial]) -> dict[str, Any]:
    """Of the trials that were spoken; `unsaid` are the others."""
    asked = [each for each in wanted if each.file.exists()]
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
        "unsaid": len(wanted) - len(rows),
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
    add("--partly", action="store_true", help="clone nothing new: report what there is")
    args = parser.parse_args()
    if not can_hear():
        raise SystemExit(f"No recogniser at {EARS}: whom clones sound like is not known.")
    if not (every := originals(args.teacher)):
        raise SystemExit(f"{args.teacher} holds no clip of the teacher: docs/voices.md says how")
    base = load_checkpoint(args.base)
    folder = args.work / f"{base.fingerprint}-clones"
    folder.mkdir(parents=True, exist_ok=True)
    asked = list(trials(every, folder))
    if not args.partly:
        asyncio.run(speak(args.base, asked, folder / "engine.log"))
    found = report(base, every, asked)
    args.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    for way, of_way in found["ways"].items():
        print(way, *(f"{name}: {of_way[name]}" for name in ("resemblyzer", "encoder")), sep="\n  ")


if __name__ == "__main__":
    main()
