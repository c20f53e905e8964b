"""Text that arrives in pieces, cut only where the pieces' tokens are those of the whole."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from gpu_engine.server.limits import is_speakable


def safe_length(text: str) -> int:
    """How much of `text` can be tokenized before more of it is known.

    A space after a word, or punctuation after a letter, always begins a new word of the tokenizer.
    """
    for at in range(len(text) - 1, 0, -1):
        before, here = text[at - 1], text[at]
        if here == " " and not before.isspace():
            return at
        if before.isalpha() and unicodedata.category(here).startswith("P"):
            return at
    return 0


@dataclass(slots=True)
class TextFeed:
    """Holds back what may still change. `characters` counts all text taken in."""

    held: str = ""
    released: bool = False
    characters: int = 0

    def push(self, text: str) -> str:
        """The next piece that is safe to tokenize, perhaps empty; the first has speech in it."""
        self.held += text
        self.characters += len(text)
        return self._release(safe_length(self.held))

    def finish(self) -> str:
        """The rest."""
        return self._release(len(self.held))

    def _release(self, length: int) -> str:
        piece = self.held[:length]
        if not self.released and not is_speakable(piece):
            return ""
        self.released = True
        self.held = self.held[length:]
        return piece
