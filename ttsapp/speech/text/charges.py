"""What a prepared text counts in characters, and how its segments share that; docs/billing.md."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.markup import Run, Words


class Charges:
    """Counts the characters sent without tags, or those spoken where aliases take the place of
    their words, whichever are more."""

    def __init__(self, places: Sequence[int], aliases: Sequence[Mapped] = ()) -> None:
        """`places`: of the original, in order, that are charged one by one; none in an alias's
        words. `aliases`: in the order of the original."""
        self._places = places
        self._starts = [alias.starts[0] for alias in aliases]
        sent = [alias.ends[0] - alias.starts[0] for alias in aliases]
        spoken = [len(alias.text) for alias in aliases]
        dearer = max(sent, spoken, key=sum)
        self._sums = [0, *accumulate(dearer)]
        self.total = len(places) + self._sums[-1]

    @classmethod
    def whole(cls, text: str) -> Charges:
        """For a text without markup."""
        return cls(range(len(text)))

    @classmethod
    def of(cls, runs: Sequence[Run], replaced: Sequence[Mapped] = ()) -> Charges:
        """Tags are free, but for what they have said in place of words. `replaced`: what a lexicon
        has said so, in the order of the original."""
        words = [run for run in runs if isinstance(run, Words)]
        places: set[int] = set()
        for run in words:
            if not run.is_alias:
                spans = set(zip(run.text.starts, run.text.ends, strict=True))
                places.update(place for start, end in spans for place in range(start, end))
        for each in replaced:
            places.difference_update(range(each.starts[0], each.ends[0]))
        aliases = [*(run.text for run in words if run.is_alias), *replaced]
        return cls(sorted(places), sorted(aliases, key=lambda alias: alias.starts[0]))

    def shares(self, segments: Sequence[Mapped]) -> list[int]:
        """Of the total, what each segment stands for, with the silence behind it; their sum is the
        total. A range that several segments say is shared by how much of it each says."""
        if len(segments) < 2:
            return [self.total] * len(segments)
        said = Counter(span for each in segments for span in _spans(each))
        told: Counter[tuple[int, int]] = Counter(_spans(segments[0]))
        cuts = [0]
        for each in segments[1:]:
            span = each.starts[0], each.ends[0]
            begin = self._before(span[0])
            cost = self._before(max(span[1], span[0] + 1)) - begin
            cuts.append(max(cuts[-1], begin + cost * told[span] // said[span]))
            told.update(_spans(each))
        return [end - start for start, end in zip(cuts, [*cuts[1:], self.total], strict=True)]

    def _before(self, place: int) -> int:
        """What the original counts up to a place; an alias counts where its words begin."""
        return bisect_left(self._places, place) + self._sums[bisect_left(self._starts, place)]


def _spans(mapped: Mapped) -> zip[tuple[int, int]]:
    return zip(mapped.starts, mapped.ends, strict=True)
