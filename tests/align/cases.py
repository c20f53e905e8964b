"""What the reference package was asked for each stored golden."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """`seconds` of the tests' own sound, by a seed."""

    seconds: float
    text: str
    language: str = "English"
    seed: int = 0


CASES = {
    "english": Case(3.2, "Hello, it's 3.5% of R2D2's text: once more, and then we are done."),
    "chinese": Case(2.0, "今天天气很好,我们去公园走一走吧。", "Chinese", 1),
    "mixed": Case(5.37, "我们用Parlance说话, say \u201cbonjour\u201d, it's fine.", "Chinese", 2),
    "french": Case(1.0, "L'été est là\u00a0: déjà vu!", "French", 3),
    "under_a_second": Case(0.61, "Hi.", "English", 4),
    "whole_window": Case(
        8.0, "Eight seconds are one window of the tower's attention.", "English", 5
    ),
    "two_windows": Case(
        19.93, "Nearly twenty seconds, and therefore three of its windows.", seed=6
    ),
}
