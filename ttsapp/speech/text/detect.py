"""Which of the ten languages a text is in."""

from __future__ import annotations

import re
import threading
from functools import cache
from typing import Any

from ttsapp.speech.text.languages import NAMES

# Below it (measured: docs/text.md) a guess is more often wrong than the voice's own language.
_CONFIDENT = 0.5
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7a3\u1100-\u11ff]")),
    ("zh", re.compile("[\u4e00-\u9fff\u3400-\u4dbf]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
_MOST = 400
_loading = threading.Lock()


def detect(text: str, default: str) -> str:
    """A language's code; `default` for a text that is too short to tell.

    Loads what it knows if `load_beside` has not: then not on the event loop."""
    letters = re.findall(r"[^\W\d_]", text[:_MOST])
    for code, script in _SCRIPTS:
        if 2 * sum(map(bool, map(script.match, letters))) > len(letters) > 0:
            return _east_asian(text) if code == "zh" else code
    if len(letters) < 2:
        return default
    found, confidence = _identifier().classify(text[:_MOST])
    return str(found) if confidence >= _CONFIDENT else default


def load_beside() -> threading.Thread:
    """Loads what the detector knows, seconds on a busy machine, in a thread nobody waits for."""
    thread = threading.Thread(target=_identifier, name="language-detector", daemon=True)
    thread.start()
    return thread


def _east_asian(text: str) -> str:
    """Characters that Japanese shares with Chinese are Japanese once there is kana."""
    return "ja" if _SCRIPTS[0][1].search(text) else "zh"


def _identifier() -> Any:
    # Who asks while it is being loaded waits for that, and does not load it again.
    with _loading:
        return _load()


@cache
def _load() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(NAMES))
    return identifier
