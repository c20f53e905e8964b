"""Sentences of 4 to 20 words from a grammar of our own: the same seed, the same sentences."""

from __future__ import annotations

import random

NOTHING = ("",)
OPENINGS = NOTHING * 9 + (
    "After lunch",
    "On Monday morning",
    "To everyone's surprise",
    "Before the rain came",
    "Late in the evening",
    "As far as I know",
)
WHO = (
    "the gardener",
    "my neighbor",
    "a young doctor",
    "our teacher",
    "the old captain",
    "she",
    "the bus driver",
    "nobody",
    "the woman at the counter",
    "his brother",
)
DID = (
    "opened the window",
    "found a silver coin",
    "called the office",
    "painted the kitchen door",
    "forgot the tickets",
    "told a long story",
    "carried the boxes upstairs",
    "bought fresh bread",
    "watched the river",
    "sang quietly",
)
WHERE = NOTHING * 4 + (
    "near the station",
    "behind the library",
    "at the end of the street",
    "in the small garden",
    "next to the harbor",
)
WHY = NOTHING * 6 + (
    "because the train was late",
    "while the others waited",
    "and smiled",
    "before going home",
    "so that we could leave early",
)
LONGEST = 20


def sentences(count: int, seed: int) -> list[str]:
    """That many, about ten words each in the mean."""
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(count)]


def sentence(rng: random.Random) -> str:
    """One of at most 20 words."""
    while len((text := _drawn(rng)).split()) > LONGEST:
        pass
    return text


def _drawn(rng: random.Random) -> str:
    opening = rng.choice(OPENINGS)
    words = [rng.choice(WHO), rng.choice(DID), rng.choice(WHERE), rng.choice(WHY)]
    body = " ".join(part for part in words if part)
    text = f"{opening}, {body}" if opening else body
    return text[0].upper() + text[1:] + "."


def paragraph(characters: int, seed: int) -> str:
    """Whole sentences, at least that many characters."""
    rng = random.Random(seed)
    text = sentence(rng)
    while len(text) < characters:
        text += " " + sentence(rng)
    return text
