"""Characters that are not meant to be spoken, taken out; look-alikes, made one."""

from __future__ import annotations

import re
import unicodedata

from ttsapp.speech.text.mapped import Mapped

_LINE = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_BLANKS = "\t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_BLANK = re.compile(f"[ {_BLANKS}]{{2,}}|[{_BLANKS}]")
_COMBINED = re.compile(r".[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u0655\u3099\u309a]+")
_JAMO = re.compile("[\u1100-\u11ff]+")
# Controls, marks of byte order and direction, soft hyphens, lone surrogates, and what has no
# meaning that anybody agreed on.
_UNSPOKEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\ufff9-\uffff\ud800-\uf8ff"
    "\U000e0000-\U000e01ef\U000f0000-\U0010ffff]"
)
# Letters and digits in another dress: mathematical, joined, Roman, circled, lowered, half as wide.
_DRESSED = re.compile(
    "[\u2080-\u2089\u2102\u210a-\u2113\u2115\u2119-\u211d\u2124\u2128\u212c\u212d\u212f-\u2134"
    "\u2139\u2160-\u217f\u2460-\u2473\u24b6-\u24e9\ufb00-\ufb06\uff66-\uff9f\U0001d400-\U0001d7ff]+"
)
# Strokes through letters, and what is piled upon Latin ones beside their own accents.
_STRAY = re.compile("(?<=[0-9A-Za-z\xc0-\u024f\u1e00-\u1eff])[\u0300-\u036f]+|[\u0334-\u0338]+")
# Joiners are letters' business in Persian and Indian scripts, and nobody's elsewhere.
_JOINER = re.compile("(?<![\u0600-\u06ff\u0900-\u0dff])[\u200c\u200d]")
_SIGNS = "[\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\u20e3]+"
# With the blank before them where a mark follows, and with the one behind after another.
_EMOJI = re.compile(rf" ?{_SIGNS}(?=[.,;:!?…]|$)|(?<!\S){_SIGNS} ?|{_SIGNS}")
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ`´", "'"),
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‐‑", "-"),
        "−": "-",
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF10, 0xFF1A)},
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF21, 0xFF3B)},
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF41, 0xFF5B)},
    }
)
_ALIKE_PATTERN = re.compile("[" + "".join(map(chr, _ALIKE)) + "]")


def clean(text: Mapped) -> Mapped:
    """NFC, single blanks, plain quotes and digits; no emoji, controls or hidden characters."""
    if text.text.isascii() and text.text.isprintable() and "  " not in text.text:
        return text
    text = text.sub(_LINE, lambda match: "\n")
    text = text.sub(_UNSPOKEN, lambda match: "")
    text = text.sub(_JOINER, lambda match: "")
    text = text.sub(_DRESSED, lambda match: unicodedata.normalize("NFKC", match[0]))
    text = _composed(text)
    text = text.sub(_STRAY, lambda match: "")
    text = text.sub(_EMOJI, _apart)
    text = text.sub(_BLANK, lambda match: " ")
    return text.sub(_ALIKE_PATTERN, lambda match: match[0].translate(_ALIKE))


def _apart(emoji: re.Match[str]) -> str:
    """Words that nothing else parts stay two."""
    text, start, end = emoji.string, emoji.start(), emoji.end()
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    return " " if before.isalnum() and after.isalnum() else ""


def _composed(text: Mapped) -> Mapped:
    """NFC, one visible character after the other, so that each keeps its place."""
    if unicodedata.is_normalized("NFC", text.text):
        return text
    for pattern in (_COMBINED, _JAMO):
        text = text.sub(pattern, lambda match: unicodedata.normalize("NFC", match[0]))
    odd = {char for char in text.text if not unicodedata.is_normalized("NFC", char)}
    if not odd:
        return text
    pattern = re.compile("[" + re.escape("".join(odd)) + "]")
    return text.sub(pattern, lambda match: unicodedata.normalize("NFC", match[0]))
