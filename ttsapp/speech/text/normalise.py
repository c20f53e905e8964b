"""What is written as digits and signs, as the words that are said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ttsapp.speech.text import chinese, english, french, german, spanish
from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.rules import Rule, applied

RULES: Mapping[str, Sequence[Rule]] = {
    "de": german.RULES,
    "en": english.RULES,
    "es": spanish.RULES,
    "fr": french.RULES,
    "zh": chinese.RULES,
}


def normalised(text: Mapped, language: str, first: Sequence[Rule] = ()) -> Mapped:
    """In languages without rules, the text as it is. What ends in a full stop still does.
    `first`: rules that come before the language's own."""
    said = applied(text, (*first, *RULES.get(language, ())))
    blanks = len(text.text) - len(text.text.rstrip())
    body = text.part(0, len(text.text) - blanks)
    if body.text.endswith(".") and said.text.rstrip()[-1:].isalnum():
        stop = body.part(len(body.text) - 1, len(body.text))
        tail = text.part(len(body.text), len(text.text))
        return Mapped.joined([said.part(0, len(said.text.rstrip())), stop, tail])
    return said
