"""Words whose full stop does not, or does not by itself, end a sentence."""

from __future__ import annotations

from ttsapp.speech.text import languages

# Followed by what they belong to, whatever its first letter.
_LEADING = {
    "en": "adm brig capt cf cmdr comdr cpl eds e.g eg esp fr gen gov hon i.e ie lieut lt maj "
    "messrs mlle mme mr mrs ms mt mx pres prof rev sen sgt st supt viz vs",
    "de": "bsp bspw bzgl bzw ca d dipl dr evtl frl geb ggf gem hr hrn i inkl insb o prof s.o s.u "
    "sog st tel u v vgl z zz zzgl",
    "fr": "av bd cf dr env ex mgr mlle mlles mme mmes pr prof st ste tél vs",
    "es": "avda cap dr dra dña gral ing lic prof profa sr sra sres srta sta sto tel",
    "it": "arch avv dott dr geom ing prof rag sig sigg",
    "pt": "av dr dra eng exmo prof profa sr sra srta",
    "ru": "акад гл доц им корп обл оз проф рис см ср стр тел ул",
}
# The same before a number; elsewhere words like any other ("No. 5" but "No. Not now.").
_NUMBERING = {
    "en": "art ch col ed eq ext fig figs no nos op p pp sec vol vols",
    "de": "abb abs art bd hl kap nr s str tab ziff",
    "fr": "art ch chap fig n no n° p pp vol",
    "es": "art fig n no núm nº p pág págs vol",
    "it": "art fig n p pag",
    "pt": "art fig n nº p pág vol",
    "ru": "г д п р с т",
}
# May end a sentence: what follows has to look like the start of one.
_TRAILING = {
    "en": "al approx apr assn aug ave blvd co corp dec dept dr etc feb ft hr hrs inc jan jr jul "
    "jun lbs ltd mar min mins nov oct oz ph.d rd rep sep sept sq sr univ",
    "de": "ag apr aug chr co dez etc feb jan jhd jr max min mio mrd nov okt sept std usf usw",
    "fr": "apr av janv févr juil sept oct nov déc etc jr",
    "es": "ee.uu etc ud uds cía ltda dic ene feb jr",
    "it": "ecc jr",
    "pt": "cia etc jr ltda",
    "ru": "др пр тыс млн млрд руб коп тд тп",
}
# First words that nearly always begin a sentence, so that "B. Then" ends one and "B. Smith" not.
_STARTERS = {
    "en": "a after all also although an and are as at because before but can could did do does "
    "even every first for from had has have he her here his how however i if in instead is "
    "it its just later let maybe meanwhile most my next no not nothing now of on once one "
    "our perhaps please she should since so some soon that the their then there these they "
    "this those though thus to today tomorrow two unfortunately until was we well were what "
    "when where which while who why will with would yes yesterday yet you your",
    "de": "aber als am auch auf bei da dabei daher damit dann darum das dass dazu deine denn der "
    "deshalb die dies diese dieser dieses doch du ein eine er es für hat heute hier ich ihr "
    "im in ist ja jetzt kann man mein mit morgen nach nein nicht noch nun nur ob oder seine "
    "sie sind so trotzdem um und unser von vor war warum was weil wenn wer wie wir wo zu "
    "zum",
    "fr": "alors après au aussi avec c'est ce cela ces cette comme dans de depuis des donc elle "
    "elles en est et il ils j'ai je la le les leur lorsque mais mon nous on ou où par "
    "pendant personne plus pour pourquoi puis quand que qui sa sans ses si son sur tous "
    "tout tu un une vous",
    "es": "a ahora al algunos aquí así aunque bien como con cuando de del después donde el ella "
    "ellos en entonces era es esta este esto fue ha hay la las le lo los luego mañana me mi "
    "muy nada no nos nosotros o para pero por porque pues que quién se si sin sobre son su "
    "también todo tras tu un una usted y ya yo",
}


def _words(table: dict[str, str], language: str) -> frozenset[str]:
    chosen = table.values() if language == languages.AUTO else [table.get(language, "")]
    return frozenset(word for line in chosen for word in line.split())


_KNOWN = (languages.AUTO, *languages.NAMES)
LEADING = {language: _words(_LEADING, language) for language in _KNOWN}
NUMBERING = {language: _words(_NUMBERING, language) for language in _KNOWN}
TRAILING = {language: _words(_TRAILING, language) for language in _KNOWN}
STARTERS = {language: _words(_STARTERS, language) for language in _KNOWN}
