"""How a number's last word follows the noun that it counts: ein Mann, une page, veintiuna horas."""

from __future__ import annotations

import re

_GERMAN = re.compile(
    r"(?:stunde|minute|sekunde|woche|nacht|person|frau|million|milliarde|tonne|seite|zeile|flasche"
    r"|tasse|packung|portion|tablette|dose|karte|reihe|runde|stufe|klasse|sache|frage|kalorie"
    r"|stimme|straße|tür|hand|stadt|idee|meile|unze|etage|\w+(?:ung|heit|keit|schaft|ion|ität|ik))$"
)
_NOT_FEMININE = re.compile(
    r"(?:junge|kunde|kollege|name|gedanke|käse|auge|ende|erbe|gebäude|gemüse|getränk|gelände|löwe"
    r"|hase|affe|zeuge|experte|deutsche|franzose|pole|russe|chinese|buchstabe|interesse|ge\w+de)$"
)
_FRENCH = re.compile(
    r"(?:fois|pages?|heures?|minutes?|secondes?|millisecondes?|personnes?|semaines?|années?"
    r"|journées?|parties?|places?|lignes?|rues?|villes?|chambres?|voitures?|femmes?|filles?"
    r"|tables?|bouteilles?|tonnes?|pièces?|cartes?|tasses?|cuillères?|boîtes?|portes?|maisons?"
    r"|questions?|tranches?|étoiles?|équipes?|entreprises?|langues?|lettres?|livre|calories?"
    r"|\w+(?:tions?|sions?|tés?|ées?|ettes?|ances?|ences?|esses?|ures?))$"
)
_SPANISH = re.compile(
    r"(?!(?:día|problema|tema|sistema|programa|mapa|idioma|clima|planeta|poema|drama|gramo|kilo)s?$)"
    r"(?:\w+as?|ve(?:z|ces)|\w+(?:ción|ciones|sión|siones|dad|dades|tad|tades)|noches?|tardes?"
    r"|clases?|partes?|mujer(?:es)?|calles?|llaves?|imágen(?:es)?|imagen|mano?s?|fotos?|motos?)$"
)
# Between a number and its noun, or where it counts nothing.
_NO_NOUN = {
    *("a", "al", "ante", "con", "contra", "cuando", "de", "del", "desde", "e", "el", "en", "entre"),
    *("es", "era", "esta", "está", "fue", "ha", "hasta", "hay", "la", "las", "lo", "los", "más"),
    *("mientras", "nada", "no", "o", "para", "pero", "por", "porque", "que", "se", "si", "sin"),
    *("sobre", "su", "también", "tras", "u", "un", "una", "y", "ya"),
}


def german(words: str, noun: str) -> str:
    if words != "eins":
        return words
    small = noun.casefold()
    is_feminine = _GERMAN.match(small) or (small.endswith("e") and not _NOT_FEMININE.search(small))
    return "eine" if is_feminine else "ein"


def french(words: str, noun: str) -> str:
    is_feminine = _FRENCH.match(noun.partition(" ")[0])
    if is_feminine and re.search(r"(?<!virgule )\bun$", words):
        return f"{words}e"
    return words


def spanish(words: str, noun: str) -> str:
    """uno is un or una, doscientos is doscientas before what is feminine; decimals stay."""
    if "coma" in words:
        return words
    if _SPANISH.match(noun.partition(" ")[0]):
        return re.sub(r"uno$", "una", re.sub(r"(?<=[cn]ient)os\b", "as", words))
    return re.sub(r"\buno$", "un", words.replace("veintiuno", "veintiún"))


def counts(words: str, noun: str) -> bool:
    """Whether a Spanish word behind a number can be what it counts: of many, a plural."""
    return noun not in _NO_NOUN and (words == "uno" or noun.endswith("s"))
