"""From what was heard to figures: by condition, by kind of sentence, and against the gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any

from tests.speech.listening import Recording, Sentence
from tests.speech.words import words

# What is compared; each says or keeps the same sentences.
CONDITIONS = {
    "teacher": "the teacher's own speech, unseen speakers",
    "codec": "the teacher's speech through the codec",
    "full": "the checkpoint, whole text first",
    "streaming": "the checkpoint, text as it comes",
}


@dataclass(frozen=True)
class Clip:
    """One sentence in one condition, heard."""

    number: int
    kind: str
    text: str
    expected: str
    voice: str
    heard: str
    seconds: float
    is_wrong_length: bool
    dnsmos: float | None

    @property
    def errors(self) -> int:
        """Words put in, left out or changed: the least that makes one text of the other."""
        said, heard = self.expected.split(), self.heard.split()
        row = list(range(len(heard) + 1))
        for place, word in enumerate(said, 1):
            before, row[0] = row[0], place
            for other, found in enumerate(heard, 1):
                before, row[other] = (
                    row[other],
                    min(row[other] + 1, row[other - 1] + 1, before + (word != found)),
                )
        return row[-1]

    @property
    def changes(self) -> list[tuple[str, str]]:
        said, heard = self.expected.split(), self.heard.split()
        matches = SequenceMatcher(None, said, heard, autojunk=False).get_opcodes()
        return [
            (" ".join(said[a:b]), " ".join(heard[c:d]))
            for what, a, b, c, d in matches
            if what != "equal"
        ]


def clip(
    number: int, sentence: Sentence, voice: str, file: Recording, ears: dict[str, Any]
) -> Clip:
    found = ears[file.file.name]
    return Clip(
        number,
        sentence.kind,
        sentence.text,
        words(sentence.words),
        voice,
        found["heard"],
        round(file.seconds, 2),
        file.is_wrong_length,
        found["dnsmos"],
    )


def rate(clips: Iterable[Clip]) -> float | None:
    """Errors by words; None without words."""
    chosen = list(clips)
    said = sum(len(each.expected.split()) for each in chosen)
    return round(sum(each.errors for each in chosen) / said, 4) if said else None


def summary(clips: Sequence[Clip]) -> dict[str, Any]:
    rated = [each.dnsmos for each in clips if each.dnsmos is not None]
    return {
        "clips": len(clips),
        "words": sum(len(each.expected.split()) for each in clips),
        "wer": rate(clips),
        "exact": sum(each.errors == 0 for each in clips),
        "wrong_length": sum(each.is_wrong_length for each in clips),
        "rated": len(rated),
        "dnsmos": round(fmean(rated), 3) if rated else None,
    }


def shared(conditions: dict[str, list[Clip]], *names: str) -> dict[str, list[Clip]]:
    """Only the sentences that all of these have: a fair comparison."""
    numbers = set.intersection(*({each.number for each in conditions[name]} for name in names))
    return {name: [c for c in conditions[name] if c.number in numbers] for name in names}


def kinds(conditions: dict[str, list[Clip]]) -> list[dict[str, Any]]:
    """One row a kind of sentence: error rates, and the commonest mishearings of the full layout."""
    rows = []
    for kind in dict.fromkeys(each.kind for each in conditions["full"]):
        of_kind = {
            name: [each for each in clips if each.kind == kind]
            for name, clips in conditions.items()
        }
        heard = Counter(change for each in of_kind["full"] for change in each.changes)
        rows.append(
            {
                "kind": kind,
                **{name: rate(clips) for name, clips in of_kind.items()},
                "exact": sum(each.errors == 0 for each in of_kind["full"]),
                "clips": len(of_kind["full"]),
                "mistakes": [list(change) for change, _ in heard.most_common(6)],
            }
        )
    return rows


def as_rows(conditions: dict[str, list[Clip]]) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [asdict(each) | {"errors": each.errors} for each in clips]
        for name, clips in conditions.items()
    }
