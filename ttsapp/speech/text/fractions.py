"""Parts of a whole in words, and the rule that finds them."""

from __future__ import annotations

import re
from collections.abc import Callable

from ttsapp.speech.text.locales import cardinal, ordinal
from ttsapp.speech.text.rules import Rule, rule

_GERMAN = {2: "halb", 3: "Drittel", 7: "Siebtel", 8: "Achtel"}
_FRENCH = {2: "demi", 3: "tiers", 4: "quart"}
_SPANISH = {2: "medio", 3: "tercio", 4: "cuarto", 5: "quinto", 6: "sexto", 7: "séptimo"}
_SPANISH |= {8: "octavo", 9: "noveno", 10: "décimo", 100: "centésimo"}


def fractions(say: Callable[[int, int], str], whole: Callable[[int, int, int], str]) -> Rule:
    """1/2, 2 3/4 and the like; what is no part of one is left to others."""

    def said(match: re.Match[str]) -> str | None:
        above, below = int(match["a"]), int(match["b"])
        if not 0 < above < below or below > 100:
            return None
        return whole(int(match["w"]), above, below) if match["w"] else say(above, below)

    pattern = r"(?<![\w/.,])(?:(?P<w>\d{1,3}) )?(?P<a>\d{1,2})/(?P<b>\d{1,3})(?![\w/])"
    return rule("fraction", pattern, said)


def german(above: int, below: int) -> str:
    if below == 2:
        return "ein halb"
    many = cardinal(below, "de") + ("tel" if below < 20 else "stel")
    return f"{'ein' if above == 1 else cardinal(above, 'de')} {_GERMAN.get(below, many.title())}"


def german_mixed(whole: int, above: int, below: int) -> str:
    if below == 2:
        return f"{'ein' if whole == 1 else cardinal(whole, 'de')}einhalb"
    return f"{cardinal(whole, 'de')} {german(above, below)}"


def french(above: int, below: int) -> str:
    one = _FRENCH.get(below, ordinal(below, "fr"))
    many = one if one.endswith("s") else f"{one}s"
    return f"{cardinal(above, 'fr')} {one if above == 1 else many}"


def french_mixed(whole: int, above: int, below: int) -> str:
    return f"{cardinal(whole, 'fr')} et {french(above, below)}"


def spanish(above: int, below: int) -> str:
    one = _SPANISH.get(below, f"{cardinal(below, 'es')}avo".replace(" y ", "i"))
    return f"un {one}" if above == 1 else f"{cardinal(above, 'es')} {one}s"


def spanish_mixed(whole: int, above: int, below: int) -> str:
    return f"{cardinal(whole, 'es')} y {spanish(above, below)}"
