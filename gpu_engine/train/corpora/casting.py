"""Who speaks a line and how: presets, random mixes of the teacher's voices, and voices that are
only described, of one sex and accent each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from gpu_engine.train.corpora.shaping import Shape
from gpu_engine.train.corpora.wording import USUAL, Traits

# Preset name -> the voice that speaks for it.
PRESETS = {
    "clara": "af_heart",
    "june": "af_bella",
    "ruth": "af_sarah",
    "helen": "bf_emma",
    "martin": "am_michael",
    "oscar": "am_fenrir",
    "theo": "am_puck",
    "walter": "bm_george",
}
# No speed lies between two tempos: who is told to speak slowly speaks slower than anybody else.
SPEEDS = {
    "slow": (0.6, 0.65, 0.7),
    "usual": (0.9, 0.95, 1.0, 1.0, 1.0, 1.05, 1.1),
    "fast": (1.45, 1.55, 1.65),
}
EFFORTS = {"soft": Shape(gain=-9.0, tilt=-6.0), "usual": Shape(), "loud": Shape(gain=5.0, tilt=5.0)}
# How fast each voice speaks at speed 1 against their mean: 24 sentences, without their pauses.
PACES = {
    "af_alloy": 0.94,
    "af_aoede": 1.08,
    "af_bella": 1.02,
    "af_heart": 1.07,
    "af_jessica": 1.14,
    "af_kore": 1.05,
    "af_nicole": 0.67,
    "af_nova": 0.97,
    "af_river": 1.10,
    "af_sarah": 1.0,
    "af_sky": 1.02,
    "am_adam": 1.06,
    "am_echo": 0.93,
    "am_eric": 1.11,
    "am_fenrir": 1.10,
    "am_liam": 1.08,
    "am_michael": 0.98,
    "am_onyx": 0.97,
    "am_puck": 1.12,
    "am_santa": 0.91,
    "bf_alice": 1.0,
    "bf_emma": 1.03,
    "bf_isabella": 1.02,
    "bf_lily": 1.0,
    "bm_daniel": 1.03,
    "bm_fable": 0.97,
    "bm_george": 0.86,
    "bm_lewis": 0.90,
}
USUAL_PACES = 0.88, 1.14  # beyond them nobody calls a pace usual
UNFIT = ("af_nicole", "am_santa")  # for descriptions: one whispers, one puts his voice on
# Bodies: how many times faster speech is read, against what was spoken. Few men have a small one,
# few women a large one: else nobody could tell their sex.
SIZES = {
    "child": {"female": (1.22, 1.3)},
    "young": {"female": (1.06, 1.1), "male": (1.0, 1.04)},
    "grown": {"female": (0.97, 1.0), "male": (0.92, 0.96)},
    "old": {"female": (0.97, 1.0), "male": (0.93, 0.97)},
}
AGES = ("young", "grown", "grown", "old", "child", "", "")
OLD_TILT = -4.0
ACCENTS = {"a": "american", "b": "british"}
SEXES = {"f": "female", "m": "male"}
# Median pitch in Hz that parts low, middle and high voices.
PITCHES = {"female": (170.0, 200.0), "male": (112.0, 135.0)}

RandomMixes = Callable[..., list[str]]


@dataclass(frozen=True, slots=True)
class Cast:
    """The speaker's name (none for a voice that is only described), the teacher's voice and speed,
    what is done to the audio, and what it sounds like then, as far as known beforehand. `is_told`:
    whether somebody asked for that manner."""

    speaker: str
    voice: str
    speed: float
    shape: Shape = EFFORTS[USUAL]
    traits: Traits = field(default_factory=Traits)
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class Casting:
    """`mixed`: share of lines that mixes speak; `designed`: that designs do; `instructed`: of the
    presets' lines, those that they are told how to speak."""

    mixes: Sequence[str]
    designs: Sequence[str]
    mixed: float
    instructed: float
    designed: float

    def draw(self, rng: Random) -> Cast:
        speed = rng.choice(SPEEDS[USUAL])
        if self.designed and rng.random() < self.designed:
            return self._design(rng)
        if self.mixes and rng.random() < self.mixed:
            number = rng.randrange(len(self.mixes))
            return self._named(f"mix-{number:03}", self.mixes[number], speed)
        name = rng.choice(list(PRESETS))
        who = self._named(name, PRESETS[name], speed)
        if self.instructed and rng.random() < self.instructed:
            return told(who, rng.choice(TEMPOS), rng.choice(ENERGIES), rng)
        return who

    def _named(self, name: str, voice: str, speed: float) -> Cast:
        return Cast(name, voice, speed, traits=traits_of(voice))

    def _design(self, rng: Random) -> Cast:
        """As the voice is, as a speaker of a name; or aged, told, or both, without one."""
        number = rng.randrange(len(self.designs))
        voice = self.designs[number]
        # What is fast must not depend on who nobody has heard.
        speed = rng.choice(SPEEDS[USUAL]) / pace_of(voice)
        who = self._named(f"design-{number:03}", voice, speed)
        age = rng.choice(AGES)
        if age == "child" and who.traits.sex == "male":
            age = "grown"  # a man's voice makes no child
        tempo, energy = rng.choice(TEMPOS), rng.choice(ENERGIES)
        if (tempo, energy) != (USUAL, USUAL):
            who = told(who, tempo, energy, rng)
        return aged(who, age, rng) if age else who


TEMPOS = ("slow", "slow", USUAL, USUAL, "fast", "fast")
ENERGIES = ("soft", USUAL, USUAL, USUAL, "loud")


def told(who: Cast, tempo: str, energy: str, rng: Random) -> Cast:
    """`who` speaks as usual; a known speaker is slow or fast by his own measure, a design by all
    others'."""
    usual = 1.0 if who.speaker in PRESETS else 1 / pace_of(who.voice)
    speed = who.speed if tempo == USUAL else rng.choice(SPEEDS[tempo]) * usual
    traits = replace(who.traits, tempo=tempo, energy=energy)
    return replace(who, speed=speed, shape=EFFORTS[energy], traits=traits, is_told=True)


def aged(who: Cast, age: str, rng: Random) -> Cast:
    """Nobody's voice any more: one of that age, at the same tempo."""
    size, old = rng.choice(SIZES[age][who.traits.sex]), age == "old"
    tilt = who.shape.tilt + (OLD_TILT if old else 0.0)
    shape = replace(who.shape, size=size, tilt=tilt, tremor=old)
    # Boys and girls of one age sound alike.
    sex = rng.choice(tuple(SEXES.values())) if age == "child" else who.traits.sex
    traits = replace(who.traits, age=age, sex=sex)
    return replace(who, speaker="", speed=who.speed / size, shape=shape, traits=traits)


def parts_of(voice: str) -> dict[str, float]:
    """The teacher's voices in a mix, and their shares."""
    parts = (part.rpartition("*") for part in voice.split("+"))
    return {name.strip(): float(share or 1) for share, _, name in parts}


def pace_of(voice: str) -> float:
    """Of a voice or a mix, as PACES has it."""
    return sum(share * PACES.get(name, 1.0) for name, share in parts_of(voice).items())


def described(who: Cast, hertz: float) -> Traits | None:
    """What can truly be said of somebody whose pitch has been measured; None for those whose sex
    nobody can tell, and for the presets that speak otherwise than they do."""
    if not who.traits.sex or (who.is_told and who.speaker in PRESETS):
        return None
    low, high = USUAL_PACES
    pace = who.speed * who.shape.size * pace_of(who.voice)
    traits = replace(who.traits, pitch=pitch_word(hertz, who.traits))
    is_odd = traits.tempo == USUAL and not low <= pace <= high
    return replace(traits, tempo="") if is_odd else traits


def traits_of(voice: str) -> Traits:
    """What all parts of a mix have in common: "0.6*af_heart+0.4*bf_emma" is female."""
    names = list(parts_of(voice))
    accents, sexes = ({name[at] for name in names} for at in (0, 1))
    accent = ACCENTS[accents.pop()] if len(accents) == 1 else ""
    sex = SEXES[sexes.pop()] if len(sexes) == 1 else ""
    return Traits(sex=sex, accent=accent)


def pitch_word(hertz: float, traits: Traits) -> str:
    """low, middle or high for a grown speaker of that sex; nothing where that cannot be said."""
    if traits.sex not in PITCHES or traits.age == "child" or not hertz:
        return ""
    low, high = PITCHES[traits.sex]
    return "low" if hertz < low else "high" if hertz > high else "middle"


def design_voices(voices: Sequence[str], count: int, mixes: RandomMixes, seed: int) -> list[str]:
    """`count` voices for each sex and accent: the teacher's own, and mixes of them."""
    groups: dict[str, list[str]] = {}
    for name in sorted(set(voices) - {*UNFIT}):
        groups.setdefault(name[:2], []).append(name)
    found: list[str] = []
    for names in groups.values():
        mixed = count - len(names) if len(names) > 1 else 0
        found += names[:count]
        if mixed > 0:
            found += mixes(names, mixed, seed=seed, most_parts=min(3, len(names)))
    return found
