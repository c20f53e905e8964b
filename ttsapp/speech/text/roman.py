"""Roman numerals: of rulers, centuries and chapters."""

from __future__ import annotations

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
# Two letters or more; one alone is mostly a letter.
SEVERAL = r"(?=[IVXL]{2})L?X{0,3}(?:I[XV]|V?I{0,3})(?<=[IVXL]{2})"
ANY = r"L?X{0,3}(?:I[XV]|V?I{0,3})(?<=[IVXL])"


def value(text: str) -> int:
    values = [_VALUES[char] for char in text]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)
