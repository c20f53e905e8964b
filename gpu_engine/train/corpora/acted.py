"""What the teacher makes of the trials that a checkpoint is judged by: how far the measures hold.

    python -m gpu_engine.train.corpora.acted TEACHER SENTENCES OUT --count 96

needs the teacher's environment (docs/training.md); OUT gets clips and report.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import torch
from torch import Tensor

from gpu_engine.train.corpora.casting import (
    Cast,
    aged,
    design_voices,
    pace_of,
    told,
    traits_of,
)
from gpu_engine.train.corpora.kokoro import Line, load, phonemise
from gpu_engine.train.corpora.wording import Traits
from gpu_engine.train.corpus import read_sentences, write_wav
from gpu_engine.train.described import Trial, designs, fit, judge_designs, listen

VOICES = 16  # for each sex and accent
AT_ONCE = 12


def cast_for(traits: Traits, voices: Sequence[str], rng: Random) -> Cast:
    """Somebody of that sex and accent, at that age, who speaks like that."""
    able = [v for v in voices if _suits(traits_of(v), traits)]
    voice = rng.choice(able)
    who = Cast("", voice, 1 / pace_of(voice), traits=traits_of(voice))
    who = told(who, traits.tempo, traits.energy, rng)
    return aged(who, traits.age, rng) if traits.age else who


def _suits(have: Traits, wanted: Traits) -> bool:
    return have.sex == wanted.sex and wanted.accent in ("", have.accent)


def speak(folder: Path, trials: Sequence[Trial], seed: int) -> Iterator[Tensor]:
    """Their audio, in their order."""
    teacher, rng = load(folder, torch.device("cpu")), Random(seed)
    voices = design_voices(list(teacher.inner.voices), VOICES, teacher.code.random_mixes, seed)
    for start in range(0, len(trials), AT_ONCE):
        jobs = []
        for number, trial in enumerate(trials[start : start + AT_ONCE]):
            who = replace(cast_for(trial.traits, voices, rng), speaker=str(number))
            jobs.append((Line.of(trial.text, phonemise(trial.text), teacher.vocab), who))
        batches = teacher.speak(jobs, seed)
        rows = [row for b in batches for row in zip(b.utterances, b.audio, strict=True)]
        yield from (audio for _, audio in sorted(rows, key=lambda row: int(row[0].speaker)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("teacher", type=Path)
    parser.add_argument("sentences", type=Path, help="one a line; a tab ends it")
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=96)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    trials = designs(fit(read_sentences(args.sentences)), args.count, args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    heard = []
    for number, audio in enumerate(speak(args.teacher, trials, args.seed)):
        write_wav(args.out / f"{number:03}.wav", audio)
        heard.append(listen(audio, trials[number].text))
        print(f"{number:4}  {heard[-1]}  {trials[number].told}", flush=True)
    figures = judge_designs(trials, heard)
    (args.out / "report.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    print(json.dumps({name: value for name, value in figures.items() if name != "clips"}))


if __name__ == "__main__":
    main()
