"""Text that remembers, for each character, which characters of the original it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mapped:
    """Character `i` of `text` stands for `original[starts[i]:ends[i]]`; code points throughout."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str, start: int = 0) -> Mapped:
        """A text that stands for itself, `start` characters into the original."""
        stop = start + len(text)
        return cls(text, tuple(range(start, stop)), tuple(range(start + 1, stop + 1)))

    @classmethod
    def instead(cls, text: str, start: int, end: int) -> Mapped:
        """A text that as a whole stands for a range of the original."""
        return cls(text, (start,) * len(text), (end,) * len(text))

    @classmethod
    def joined(cls, parts: Sequence[Mapped]) -> Mapped:
        return cls(
            "".join(part.text for part in parts),
            tuple(place for part in parts for place in part.starts),
            tuple(place for part in parts for place in part.ends),
        )

    def part(self, start: int, end: int) -> Mapped:
        return Mapped(self.text[start:end], self.starts[start:end], self.ends[start:end])

    def range(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original that `text[start:end]` stands for; empty for no text."""
        if start >= end:
            return (0, 0)
        return min(self.starts[start:end]), max(self.ends[start:end])

    def edited(self, edits: Iterable[tuple[int, int, str]]) -> Mapped:
        """With `text[start:end]` replaced, for each edit; they are in order and do not overlap."""
        parts, place = [], 0
        for start, end, new in edits:
            parts += [self.part(place, start), Mapped.instead(new, *self.range(start, end))]
            place = end
        return Mapped.joined([*parts, self.part(place, len(self.text))]) if parts else self

    def sub(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> Mapped:
        """Like `re.sub`, for patterns that never match nothing."""
        matches = ((*match.span(), match[0], new(match)) for match in pattern.finditer(self.text))
        return self.edited(
            (start, end, after) for start, end, before, after in matches if after != before
        )
