"""Says in words how somebody speaks: instructions to a known speaker, descriptions of an unknown
one. What is not the usual way is always said, so that no audio contradicts its words."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

USUAL = "usual"
SAID = 0.55  # chance that a trait is told that could be left out
USUAL_SAID = 0.15  # of what is as usual
ARTICLES = {True: "an", False: "a"}


@dataclass(frozen=True, slots=True)
class Traits:
    """Empty where nobody knows. sex: female, male; age: child, young, grown, old; pitch: low,
    middle, high for the sex; accent: american, british; tempo: slow, usual, fast; energy: soft,
    usual, loud."""

    sex: str = ""
    age: str = ""
    pitch: str = ""
    accent: str = ""
    tempo: str = USUAL
    energy: str = USUAL

    @property
    def is_usual(self) -> bool:
        """Whether a speaker who was told nothing would speak like that."""
        return self.tempo == self.energy == USUAL


@cache
def wording() -> Mapping[str, Any]:
    """The phrases, as they stand in wording.toml."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def instruction(traits: Traits, rng: Random, held_out: bool = False) -> str:
    """What a speaker is told about tempo and energy; what is as usual only where all of it is."""
    phrases = wording()["manner"]
    odd = [name for name in ("tempo", "energy") if getattr(traits, name) != USUAL]
    named = odd or [rng.choice(("tempo", "energy"))]
    rng.shuffle(named)
    manner = " and ".join(rng.choice(phrases[name][getattr(traits, name)]) for name in named)
    frame = rng.choice(_frames("instructions", held_out))
    return frame.format(manner=manner, Manner=_capital(manner))


def description(
    traits: Traits, rng: Random, held_out: bool = False, always: Collection[str] = ()
) -> str:
    """A voice in words: who speaks, and some of how; `always` the traits of these names."""
    told = _told(traits, rng, always)
    frame = rng.choice(_frames("descriptions", held_out))
    if "{who}" in frame or "{Who}" in frame:
        who = _who(told, rng)
        return frame.format(who=who, Who=_capital(who), rest=_rest(told, rng))
    listed = _tags(told, rng, "{fields}" in frame.lower())
    return frame.format(tags=listed, Tags=_capital(listed), fields=listed, Fields=_capital(listed))


def _frames(kind: str, held_out: bool) -> list[str]:
    frames: list[str] = wording()[kind]["held_out" if held_out else "trained"]
    return frames


def _told(traits: Traits, rng: Random, always: Collection[str]) -> dict[str, str]:
    """The traits that are told: at least one, and every one that is not as usual."""
    known = {
        name: value for name in Traits.__dataclass_fields__ if (value := getattr(traits, name))
    }
    must = {name for name in ("tempo", "energy") if known.get(name, USUAL) != USUAL} | {*always}
    must |= {"age"} if traits.age in ("child", "old") else set()
    chance = {name: USUAL_SAID if known[name] == USUAL else SAID for name in known}
    chance["sex"] = 0.9
    told = {n: value for n, value in known.items() if n in must or rng.random() < chance[n]}
    return told or {"energy": traits.energy}


def _who(told: dict[str, str], rng: Random) -> str:
    noun = rng.choice(wording()["who"][told.get("age") or "unsaid"][told.get("sex") or "any"])
    if "accent" in told and rng.random() < 0.4:
        noun = f"{told.pop('accent').capitalize()} {noun}"
    return f"{ARTICLES[noun[0].lower() in 'aeiou']} {noun}"


def _rest(told: dict[str, str], rng: Random) -> str:
    phrases = wording()["rest"]
    clauses: list[str] = [rng.choice(phrases[name][told[name]]) for name in told if name in phrases]
    rng.shuffle(clauses)
    if not clauses:
        return ""
    start = rng.choice((" ", ", "))
    if len(clauses) == 1:
        return start + clauses[0]
    return start + ", ".join(clauses[:-1]) + rng.choice((", ", " and ", ", and ")) + clauses[-1]


def _tags(told: dict[str, str], rng: Random, named: bool) -> str:
    words, names = wording()["tags"], list(told)
    rng.shuffle(names)
    listed = [rng.choice(words[name][told[name]]) for name in names]
    if not named:
        return ", ".join(listed)
    fields = wording()["fields"]
    return ", ".join(
        f"{rng.choice(fields[name])}: {_bare(tag)}" for name, tag in zip(names, listed, strict=True)
    )


def _bare(tag: str) -> str:
    """Without the field's own name: "pitch: low pitch" says it twice."""
    for ending in (" pitch", " pace", " speed", " accent", " energy", " voice"):
        tag = tag.removesuffix(ending)
    return tag


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
