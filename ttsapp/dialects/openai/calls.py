"""OpenAI's calls, and ours beside them, for the OpenAPI document."""

from __future__ import annotations

from ttsapp.dialects import described as of
from ttsapp.dialects.described import Call, Described
from ttsapp.dialects.openai import codec, text, voices
from ttsapp.speech.captions import CONTENT_TYPES as CAPTIONS
from ttsapp.speech.encoders.formats import content_types
from ttsapp.voices import uploads

_HELLO = {"model": "tts-1", "voice": "alloy", "input": "Hello."}
_SPOKEN = {
    **dict.fromkeys(content_types(), of.BYTES),
    of.EVENTS: of.EVENT,
    of.JSON: {"type": "object", "required": ["object", "audio", "words"]},
    **dict.fromkeys(CAPTIONS.values(), of.TEXT),
}
_LIST = of.document("object", "data")
_VOICE = of.document("id", "object", "name", "type")
_CONSENT = of.document("id", "object", "name", "state")
_RENAMED = of.fields({"name": str}, ("name",), example={"name": "Ann"})
_MADE = of.body(of.fields(dict.fromkeys(voices.FIELDS, str), ("name",)))

OPENAI = Described(
    name="OpenAI",
    root="/openai/v1",
    error=of.error("message", "type", "param", "code", within="error"),
    calls=(
        Call(
            "post",
            "/audio/speech",
            "Speak a text",
            _SPOKEN,
            body=of.body(of.fields(codec.FIELDS, codec.REQUIRED, example=_HELLO)),
            refusals=of.SPEECH,
        ),
        Call(
            "get",
            "/audio/speech/requests/{wanted}",
            "How a request fared",
            of.document("id", "object", "state"),
        ),
        Call("get", "/audio/voices", "Voices that can be asked for", _LIST),
        Call(
            "post",
            "/audio/voices",
            "Make a voice",
            _VOICE,
            body={**of.form(voices.FIELDS, voices.FILES, ("name",)), **_MADE},
            refusals=(*of.FORMS, 504),
        ),
        Call("get", "/audio/voices/{name}", "A voice", _VOICE),
        Call("delete", "/audio/voices/{name}", "Delete a voice", of.document("id", "deleted")),
        Call(
            "get",
            "/audio/voice_consents",
            "Consents, newest first",
            _LIST,
            query=of.texts("limit", "after"),
        ),
        Call(
            "post",
            "/audio/voice_consents",
            "Record a speaker's consent",
            _CONSENT,
            body=of.form(uploads.TERMS, ("recording",), ("name", "recording")),
            refusals=of.FORMS,
        ),
        Call("get", "/audio/voice_consents/{name}", "A consent", _CONSENT),
        Call(
            "post",
            "/audio/voice_consents/{name}",
            "Rename a consent",
            _CONSENT,
            body=of.body(_RENAMED),
            refusals=of.BODY,
        ),
        Call(
            "delete",
            "/audio/voice_consents/{name}",
            "Delete a consent",
            of.document("id", "deleted"),
            refusals=(409,),
        ),
        Call(
            "post",
            "/audio/voice_consents/{name}/withdraw",
            "Withdraw a consent",
            _CONSENT,
            body=of.body(of.fields({"reason": str}, example={"reason": "Asked to."})),
            refusals=(*of.BODY, 409),
        ),
        Call(
            "post",
            "/text/preview",
            "What will be spoken",
            of.document("object", "language", "characters", "segments"),
            body=of.body(of.fields(text.PREVIEW, ("input",), example={"input": "Hello."})),
            refusals=(*of.BODY, 404),
        ),
        Call("get", "/models", "Models that can be asked for", _LIST),
        Call("get", "/models/{name}", "A model", of.document("id", "object")),
    ),
)
