"""What the speech and the preview call may ask for their text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from ttsapp import strict
from ttsapp.errors import invalid
from ttsapp.keys.authentication import Caller
from ttsapp.speech.order import check_text
from ttsapp.speech.prepared import TextWish, prepared_text
from ttsapp.speech.text.markup import MARKUP_VALUES, markup
from ttsapp.speech.text.prepare import Prepared
from ttsapp.voices.catalogue import Catalogue

# The names that ElevenLabs' clients know, and one of our own.
WISHES: dict[str, Any] = {
    "apply_text_normalization": str,
    "enable_ssml_parsing": bool | str,
    "lexicon": bool,
}
PREVIEW: dict[str, Any] = {"input": str, "model": str, "voice": str, "language": str, **WISHES}


def wish(fields: Mapping[str, Any]) -> TextWish:
    """Raises ApiError 400 for a value that is not offered."""
    strict.check_choice(fields, "apply_text_normalization", ("auto", "on", "off"))
    asked = fields.get("enable_ssml_parsing", False)
    if asked not in MARKUP_VALUES:
        message = 'enable_ssml_parsing may be true, false or "pauses".'
        raise invalid(message, "enable_ssml_parsing")
    return TextWish(
        is_normalised=fields.get("apply_text_normalization") == "on",
        markup=markup(asked),
        has_lexicon=fields.get("lexicon", True),
    )


async def preview(caller: Caller, body: bytes, served: Catalogue) -> dict[str, Any]:
    """What would be spoken, as a document. Raises ApiError 400 or 404."""
    fields = strict.fields(body, PREVIEW, ("input",))
    check_text(fields["input"], settings.MAX_INPUT_CHARACTERS, "input")
    model = served.model(fields["model"]) if "model" in fields else served.default()
    language, native = fields.get("language", "auto"), "english"
    if model is not None:
        language = model.language(language)
        native = model.preset(fields["voice"]).native_language if "voice" in fields else native
    found = await prepared_text(
        fields["input"],
        wish(fields),
        caller,
        language=language,
        voice_language=native,
        field="input",
    )
    return _document(found)


def _document(found: Prepared) -> dict[str, Any]:
    return {
        "object": "text.preview",
        "language": found.language,
        "characters": found.characters,
        "final_pause_ms": found.final_pause_ms,
        "segments": [
            {
                "text": segment.text,
                "pause_ms": segment.pause_ms,
                "rate": segment.rate,
                "start": segment.start,
                "end": segment.end,
            }
            for segment in found.segments
        ],
    }
