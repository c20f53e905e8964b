"""Whether speech is as it was asked for: sex by the voice's pitch, tempo by letters a second of
sound, effort by its level. Nothing of it needs a recogniser; the bounds are the teacher's, whose
sentences take 0.07 s a letter, give or take 8 % (and a fifth of a second a syllable, 11 %)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from torch import Tensor

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.train.corpora.wording import USUAL, Traits, description, instruction
from gpu_engine.train.pitch import median_pitch

FEMALE_HZ = 150.0  # women's median pitch is above, men's below
SLOW, FAST = 14.3, 20.0  # letters a second of sound that part the tempos
SLOWER, FASTER = 0.82, 1.2  # against the same voice and sentence without an instruction
SOFT_DB, LOUD_DB = -4.0, 2.5  # against the same voice and sentence without an instruction
WINDOW = SAMPLE_RATE // 100
QUIET = 0.018  # of the loudest window: 35 dB below it is a pause
LEAST_LETTERS = 24  # a tempo needs some to be heard
LETTER = re.compile(r"[^\W\d_]")
SEXES, TEMPOS, ENERGIES = ("female", "male"), ("slow", USUAL, "fast"), ("soft", USUAL, "loud")
AGES, ACCENTS = ("", "", "young", "grown", "old"), ("", "american", "british")


@dataclass(frozen=True, slots=True)
class Trial:
    """`told`: the description, or a preset's instruction; `voice`: that preset."""

    text: str
    traits: Traits
    told: str
    voice: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """Hz, letters a second of sound, dB of full scale."""

    pitch: float
    rate: float
    level: float

    @property
    def sex(self) -> str:
        return "female" if self.pitch > FEMALE_HZ else "male"

    @property
    def tempo(self) -> str:
        return "slow" if self.rate < SLOW else "fast" if self.rate > FAST else USUAL


def letters(text: str) -> int:
    return len(LETTER.findall(text))


def fit(texts: Sequence[str]) -> list[str]:
    """Those that a tempo can be heard in: spelled as they are spoken, and not too short."""
    spelled = (text for text in texts if not re.search(r"\d|[A-Z]{2}", text))
    return [text for text in spelled if letters(text) >= LEAST_LETTERS]


def designs(texts: Sequence[str], count: int, seed: int = 1) -> list[Trial]:
    """As many of each sex and tempo, in words that were never trained on."""
    rng, found = Random(seed), []
    for number in range(count):
        sex, tempo = SEXES[number % 2], TEMPOS[number // 2 % 3]
        traits = Traits(sex, rng.choice(AGES), "", rng.choice(ACCENTS), tempo)
        told = description(traits, rng, held_out=True, always=("sex", "tempo"))
        found.append(Trial(texts[number % len(texts)], traits, told))
    return found


def instructions(
    texts: Sequence[str], voices: Sequence[str], count: int, seed: int = 1
) -> list[Trial]:
    """Every tempo and effort, by each voice in turn, in words that were never trained on; before
    them what the voice says without being told."""
    rng, found = Random(seed), []
    for number in range(count):
        text, voice = texts[number % len(texts)], voices[number % len(voices)]
        found.append(Trial(text, Traits(), "", voice))
        for tempo, energy in [(t, USUAL) for t in TEMPOS] + [(USUAL, e) for e in ("soft", "loud")]:
            traits = Traits(tempo=tempo, energy=energy)
            found.append(Trial(text, traits, instruction(traits, rng, held_out=True), voice))
    return found


def listen(audio: Tensor, text: str) -> Heard:
    """float32 [samples] at 24 kHz."""
    windows = audio[: len(audio) // WINDOW * WINDOW].reshape(-1, WINDOW).square().mean(1).sqrt()
    if not len(windows) or not windows.max():
        return Heard(0.0, 0.0, -120.0)
    sounding = windows[windows > QUIET * windows.max()]
    level = 10 * float(sounding.square().mean().log10())
    rate = letters(text) / (len(sounding) * WINDOW / SAMPLE_RATE)
    return Heard(float(median_pitch(audio[None])[0]), rate, level)


def judge_designs(trials: Sequence[Trial], heard: Sequence[Heard]) -> dict[str, Any]:
    """Shares of trials whose sex, tempo, or both are right."""
    rows = []
    for trial, found in zip(trials, heard, strict=True):
        sex, tempo = found.sex == trial.traits.sex, found.tempo == trial.traits.tempo
        rows.append({"sex": sex, "tempo": tempo, **_about(trial, found)})
    return {"trials": len(rows)} | _figures(rows, {"sex": SEXES, "tempo": TEMPOS})


def judge_instructions(trials: Sequence[Trial], heard: Sequence[Heard]) -> dict[str, Any]:
    """Shares of trials whose tempo or effort is right; what nobody told is the measure."""
    rows, untold = [], dict[tuple[str, str], Heard]()
    for trial, found in zip(trials, heard, strict=True):
        if not trial.told:
            untold[trial.voice, trial.text] = found
            continue
        louder = found.level - untold[trial.voice, trial.text].level
        faster = found.rate / max(untold[trial.voice, trial.text].rate, 1e-9)
        energy = "soft" if louder < SOFT_DB else "loud" if louder > LOUD_DB else USUAL
        tempo = "slow" if faster < SLOWER else "fast" if faster > FASTER else USUAL
        rows.append(
            {
                "tempo": tempo == trial.traits.tempo,
                "energy": energy == trial.traits.energy,
                "louder": round(louder, 1),
                "faster": round(faster, 2),
                **_about(trial, found),
            }
        )
    return {"trials": len(rows)} | _figures(rows, {"tempo": TEMPOS, "energy": ENERGIES})


def _about(trial: Trial, found: Heard) -> dict[str, Any]:
    asked = {name: value for name, value in asdict(trial.traits).items() if value}
    sound = {name: round(value, 2) for name, value in asdict(found).items()}
    return {"told": trial.told, "text": trial.text, "voice": trial.voice, "asked": asked, **sound}


def _figures(rows: Sequence[dict[str, Any]], traits: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """How often each trait is right, by what was asked too, and how often all are."""
    figures: dict[str, Any] = {}
    for name, values in traits.items():
        figures[f"{name}_right"] = _share([row[name] for row in rows])
        figures[f"{name}_right_by"] = {
            value: _share([row[name] for row in rows if row["asked"][name] == value])
            for value in values
        }
    figures["all_right"] = _share([all(row[name] for name in traits) for row in rows])
    return figures | {"clips": list(rows)}


def _share(right: Sequence[bool]) -> float:
    return round(sum(right) / max(1, len(right)), 4)
