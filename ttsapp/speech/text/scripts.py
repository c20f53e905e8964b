"""Which scripts the languages are written in, to tell a text that none of them can be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ttsapp.speech.text import languages

_LATIN = "A-Za-z\u00aa\u00ba\u00c0-\u02af\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a"
_HAN = "\u3005\u3007\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"
_CYRILLIC = "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f"
_LETTERS = {
    **dict.fromkeys(("de", "en", "es", "fr", "it", "pt"), _LATIN),
    "ja": _HAN + _KANA,
    "ko": _HAN + _HANGUL,
    "ru": _CYRILLIC,
    "zh": _HAN,
}
_LETTER = re.compile(r"[^\W\d_]")


def is_foreign(text: str, spoken: Iterable[str]) -> bool:
    """Whether the text has letters, and none of a script that a language in `spoken` (the engine's
    names) is written in. Of a language that is not known here anything may be."""
    # Mathematical and full-width letters are letters of the script that they look like.
    text = unicodedata.normalize("NFKC", text)
    codes = [languages.code(name) for name in spoken]
    if not codes or languages.AUTO in codes or _LETTER.search(text) is None:
        return False
    return re.search(f"[{''.join(_LETTERS[code] for code in codes)}]", text) is None
