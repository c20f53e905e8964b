"""From some thousand sentences, hundreds of thousands that sound like text.

A Talker that hears few texts often learns them by heart instead of learning to spell. So sentences
are cut at function words and joined with others, content words make place for words of a large
lexicon, numbers are drawn anew, and words stand in lists and alone. The same seed gives the same
texts. Sentences that are held out for validation are passed on whole and never cut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from gpu_engine.align.numerals import another
from gpu_engine.train.holdout import held_out, key
from gpu_engine.train.sentences import (
    Avoid,
    Pool,
    Sentence,
    Unit,
    as_units,
    initials,
    is_numeric,
    parse,
    shape,
    small,
    spelled,
    spoken,
    with_articles,
    written,
)

FEWEST, MOST, MOST_LETTERS = 3, 26, 180  # words and letters of a made sentence
VARIED = 0.6  # of the sentences have other words put in ...
SWAPPED = 0.5  # ... for so many of their content words,
COMMON = 0.35  # of them words of the seeds, the others of the whole lexicon
LINKS = ("and", "but", "so", "because", "while", "although", "or", "when", "if", "since")
OPENINGS = (
    "He said that",
    "She said that",
    "I think that",
    "Maybe",
    "Everybody knows that",
    "It is true that",
    "Of course",
    "In the end",
    "They told us that",
    "Remember that",
    "As far as I know",
    "Last year",
    "On the other hand",
    "For example",
    "I hope that",
    "It turned out that",
    "Nobody believed that",
    "By the way",
)
QUESTIONS = (
    "Do you think that",
    "Is it true that",
    "Did you know that",
    "Have you heard that",
    "Why do they say that",
    "Are you sure that",
    "Who told you that",
    "Would you say that",
    "Can you imagine that",
    "What if",
)
VARIABLE = frozenset({"splice", "keep", "link", "open", "ask", "number", "initials"})
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Text:
    """As a user writes it, and as it is said."""

    written: str
    spoken: str


@dataclass(frozen=True, slots=True)
class Shares:
    """Of the texts that are made, by how they are made; in proportion."""

    splice: float = 0.36
    keep: float = 0.06
    link: float = 0.10
    open: float = 0.06
    ask: float = 0.05
    number: float = 0.15
    list: float = 0.11
    single: float = 0.03
    spell: float = 0.04
    initials: float = 0.04


class TextMaker:
    """`seeds`: (written, spoken) sentences; `lexicon`: words that shall occur, beside those of the
    seeds; `avoid`: texts that must not come near. Raises ValueError without a usable sentence."""

    def __init__(
        self,
        seeds: Iterable[tuple[str, str]],
        lexicon: Iterable[str] = (),
        avoid: Iterable[str] = (),
        seed: int = 1,
    ) -> None:
        self._rng = Random(seed)
        self._avoid = Avoid(avoid)
        pairs = {key(pair[1]): pair for pair in seeds if pair[0] not in self._avoid}
        self.seeds = [Text(*pair) for pair in pairs.values()]
        self._seen = set(pairs)
        kept = [parse(t.written, t.spoken) for t in self.seeds if not held_out(t.written)]
        self._sentences = [s for s in kept if len(s) >= FEWEST]
        if not self._sentences:
            raise ValueError(f"no seed has {FEWEST} words or more")
        self._numbered = [s for s in self._sentences if any(map(is_numeric, s))]
        known = {unit.core for s in kept for unit in s[1:] if unit.plain and not unit.joint}
        self._common = self._pool(known)
        self._whole = self._pool(known | set(lexicon))
        self._every = self._shuffled(known | set(lexicon))
        self._turn = 0
        self._lower = {word for word in known if word.islower()}
        self._joints = self._find_joints()
        self._makers: dict[str, Callable[[], Sentence | None]] = {
            "splice": self._splice,
            "keep": self._any,
            "link": self._link,
            "open": lambda: self._open(OPENINGS, "."),
            "ask": lambda: self._open(QUESTIONS, "?"),
            "number": self._number,
            "list": self._list,
            "single": self._single,
            "spell": self._spell,
            "initials": self._initials,
        }

    def make(self, count: int, shares: Shares | None = None) -> Iterator[Text]:
        """`count` texts in random order: the seeds, then made ones, no two with the same words."""
        made = list(self.seeds[:count])
        weights = {name: getattr(shares or Shares(), name) for name in self._makers}
        failed = 0
        while len(made) < count and failed < 1000:
            (name,) = self._rng.choices(list(weights), list(weights.values()))
            sentence = self._makers[name]()
            if sentence and name in VARIABLE:
                sentence = self._varied(sentence, name == "keep")
            text = self._finished(sentence) if sentence else None
            failed = 0 if text else failed + 1
            made += [text] if text else []
        self._rng.shuffle(made)
        yield from made

    def _finished(self, sentence: Sentence) -> Text | None:
        """The text with fresh numbers, unless there was one like it or it is too long."""
        units = [self._fresh(unit) for unit in sentence]
        text = Text(written(units), spoken(units))
        words = key(text.spoken)
        if not words or words in self._seen or len(text.spoken) > MOST_LETTERS:
            return None
        if held_out(text.written) or text.written in self._avoid or text.spoken in self._avoid:
            return None
        self._seen.add(words)
        return self._careless(text)

    def _careless(self, text: Text) -> Text:
        """Users forget capitals and full stops too."""
        if self._rng.random() < 0.08 and text.written == text.spoken:
            plain = text.written[:1].lower() + text.written[1:].rstrip(".")
            return Text(plain, plain)
        return text

    def _fresh(self, unit: Unit) -> Unit:
        if not is_numeric(unit):
            return unit
        core, said = unit.core, unit.spoken.rstrip(".,?!;:")
        tail = unit.written[unit.written.rfind(core) + len(core) :]
        number, reading = another(self._rng, core, said)
        return Unit(number + tail, reading + tail) if number != core else unit

    # What the makers draw from.

    def _pool(self, words: set[str]) -> Pool:
        return Pool(self._shuffled(words))

    def _shuffled(self, words: set[str]) -> list[str]:
        ordered = sorted(words)
        self._rng.shuffle(ordered)
        return ordered

    def _find_joints(self) -> dict[str, list[tuple[int, int]]]:
        """Where each function word stands: sentence and place, not at either end."""
        found = defaultdict(list)
        for number, sentence in enumerate(self._sentences):
            for place in range(1, len(sentence) - 1):
                if joint := sentence[place].joint:
                    found[joint].append((number, place))
        return {joint: places for joint, places in found.items() if len(places) > 1}

    def _any(self) -> Sentence:
        return self._rng.choice(self._sentences)

    def _word(self) -> str:
        """The next of all words, over and over."""
        self._turn += 1
        return self._every[self._turn % len(self._every)]

    # The makers: each gives a sentence or, now and then, nothing.

    def _splice(self) -> Sentence | None:
        """The head of one sentence and the tail of another, from the same function word on."""
        head = self._joined(self._any())
        if head and self._rng.random() < 0.3:
            return self._joined(head)
        return head

    def _joined(self, head: Sentence) -> Sentence | None:
        cuts = [i for i in range(1, len(head) - 1) if head[i].joint in self._joints]
        if not cuts:
            return None
        cut = self._rng.choice(cuts)
        other, place = self._rng.choice(self._joints[head[cut].joint])
        whole = head[:cut] + self._sentences[other][place:]
        return whole if FEWEST <= len(whole) <= MOST else None

    def _varied(self, base: Sentence, always: bool) -> Sentence:
        """Some content words make place for others of their shape."""
        if not always and self._rng.random() > VARIED:
            return base
        return with_articles(
            self._other(unit, place == 0)
            if unit.plain and not unit.joint and self._rng.random() < SWAPPED
            else unit
            for place, unit in enumerate(base)
        )

    def _other(self, unit: Unit, first: bool) -> Unit:
        core = unit.core
        if first and core.lower() in self._lower:
            core = core.lower()
        pool = self._common if self._rng.random() < COMMON else self._whole
        if (kind := shape(core)) not in pool:
            return unit
        word = pool.draw(kind)
        return unit.become(word[0].upper() + word[1:] if first else word)

    def _clause(self, sentence: Sentence, end: str) -> Sentence:
        """The sentence as part of another: small first letter, another mark at its end."""
        first, last = sentence[0], sentence[-1]
        if (first.joint and first.written not in {"I", "I'm"}) or first.core.lower() in self._lower:
            first = Unit(small(first.written), small(first.spoken))
        units = [first, *sentence[1:]]
        units[-1] = Unit(last.written.rstrip(".!?;,") + end, last.spoken.rstrip(".!?;,") + end)
        return tuple(units)

    def _link(self) -> Sentence | None:
        one, two = self._any(), self._any()
        if len(one) + len(two) > MOST:
            return None
        link, end = self._rng.choice(LINKS), one[-1]
        mark = "," if self._rng.random() < 0.8 else ""
        bare = Unit(end.written.rstrip(".!?;,") + mark, end.spoken.rstrip(".!?;,") + mark)
        return (*one[:-1], bare, Unit(link, link), *self._clause(two, "."))

    def _open(self, openings: Sequence[str], end: str) -> Sentence | None:
        base = self._any() if self._rng.random() < 0.5 else self._splice()
        if base is None or len(base) > MOST - 4:
            return None
        return (*as_units(self._rng.choice(openings)), *self._clause(base, end))

    def _number(self) -> Sentence | None:
        """A sentence with numbers, which are then drawn anew."""
        if not self._numbered:
            return None
        base = self._rng.choice(self._numbered)
        return self._joined(base) if self._rng.random() < 0.5 else base

    def _list(self) -> Sentence:
        words = [self._word() for _ in range(self._rng.randint(3, 8))]
        joint = self._rng.choice(("and", "and", "or", ""))
        marked = [word + "," for word in words[:-1]]
        line = " ".join([*marked, joint, words[-1]]) + "."
        return tuple(as_units(line[0].upper() + line[1:]))

    def _single(self) -> Sentence:
        words = [self._word() for _ in range(self._rng.choice((1, 1, 2)))]
        line = " ".join(words)
        end = self._rng.choice((".", ".", "?", "!"))
        return tuple(as_units(line[0].upper() + line[1:] + end))

    def _spell(self) -> Sentence:
        """A word and its letters, or letters and digits as in a code."""
        if self._rng.random() < 0.5:
            word = self._word()
            letters = word.upper() if word.isascii() and word.isalpha() else "OK"
            opening = self._rng.choice((f"{word} is spelled", f"The word {word} is", f"{word},"))
            return (*as_units(opening[0].upper() + opening[1:]), *spelled(letters))
        letters = "".join(self._rng.choices(LETTERS, k=self._rng.randint(2, 5)))
        place = self._rng.choice(("The code is", "Press", "Look under", "My initials are", "Gate"))
        return (*as_units(place), *spelled(letters))

    def _initials(self) -> Sentence | None:
        """A sentence in which some capitals stand for one of its words, as in "the NGO": any, since
        nobody knows all that are in use."""
        base = self._any()
        words = [place for place, unit in enumerate(base) if unit.plain and not unit.joint]
        if not words[1:]:
            return None
        place = self._rng.choice(words[1:])
        capitals = "".join(self._rng.choices(LETTERS, k=self._rng.choice((2, 3, 3, 3, 4))))
        unit = initials(base[place], capitals)
        return (*base[:place], unit, *base[place + 1 :])
