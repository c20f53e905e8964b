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
# Controls, marks of byte order and direction, soft hyphens, lone surrogates.
_UNSPOKEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffc\ud800-\udfff\U000e0000-\U000e01ef]"
)
# Joiners are letters' business in Persian and Indian scripts, and nobody's elsewhere.
_JOINER = re.compile("(?<![\u0600-\u06ff\u0900-\u0dff])[\u200c\u200d]")
_EMOJI = re.compile(
    "[\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\u20e3]+ ?"
)
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
    text = _composed(text)
    text = text.sub(_EMOJI, lambda match: "")
    text = text.sub(_BLANK, lambda match: " ")
    return text.sub(_ALIKE_PATTERN, lambda match: match[0].translate(_ALIKE))


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
