"""ElevenLabs' calls, for the OpenAPI document."""

from __future__ import annotations

from ttsapp.dialects import described as of
from ttsapp.dialects.described import Call, Described
from ttsapp.dialects.elevenlabs import (
    formats,
    history,
    making,
    request,
    settings,
    usage,
    voice_list,
)
from ttsapp.speech.encoders.formats import content_types

_SPEECH = "/v1/text-to-speech/{voice_id}"
_VOICE = of.document("voice_id", "name", "category", "labels", "settings")
_SETTINGS = of.document(*settings.DEFAULTS)
_OK = of.document("status")
_TIMED = {"type": "object", "required": ["audio_base64", "alignment", "normalized_alignment"]}
_AUDIO = dict.fromkeys((*content_types(), "audio/basic"), of.BYTES)
_QUERY = {**of.texts(*request.QUERY), "output_format": {"enum": list(formats.FORMATS)}}
_GIVEN = of.fields(settings.FIELDS)
_BODY = of.fields(request.BODY, ("text",), {"voice_settings": _GIVEN}, example={"text": "Hello."})


def _speech(path: str, summary: str, answer: of.Media) -> Call:
    return Call(
        "post",
        _SPEECH + path,
        summary,
        answer,
        query=_QUERY,
        body=of.body(_BODY),
        refusals=of.SPEECH,
    )


def _making(path: str, summary: str, answer: of.Media) -> Call:
    sent = of.form(making.FIELDS, making.FILES, ("name",))
    return Call("post", path, summary, answer, body=sent, refusals=of.FORMS)


_SPEAKING = (
    _speech("", "Speak a text", _AUDIO),
    _speech("/stream", "Speak a text, streamed", _AUDIO),
    _speech("/with-timestamps", "Audio and the times of its letters", of.body(_TIMED)),
    _speech(
        "/stream/with-timestamps", "The same, a line for each piece", {"application/x-ndjson": {}}
    ),
)
_VOICES = (
    Call(
        "get",
        "/v1/voices",
        "Voices that can be asked for",
        of.document("voices"),
        query=of.texts("show_legacy"),
    ),
    Call(
        "get",
        "/v2/voices",
        "Voices, searched",
        of.document("voices", "has_more", "total_count"),
        query=of.texts(*voice_list.search_names()),
    ),
    _making("/v1/voices/add", "Make a voice", of.document("voice_id")),
    Call("get", "/v1/voices/settings/default", "The usual settings", _SETTINGS),
    Call("get", "/v1/voices/{voice_id}", "A voice", _VOICE, query=of.texts("with_settings")),
    Call("delete", "/v1/voices/{voice_id}", "Delete a voice", _OK),
    _making("/v1/voices/{voice_id}/edit", "Change a voice", _OK),
    Call("get", "/v1/voices/{voice_id}/settings", "A voice's settings", _SETTINGS),
    Call(
        "post",
        "/v1/voices/{voice_id}/settings/edit",
        "Change a voice's speed",
        _OK,
        body=of.body(_GIVEN),
        refusals=of.BODY,
    ),
)
_ACCOUNT = (
    Call("get", "/v1/models", "Models that can be asked for", {of.JSON: {"type": "array"}}),
    Call("get", "/v1/user", "The account", of.document("user_id", "subscription")),
    Call("get", "/v1/user/subscription", "What may be used", of.document("tier", "status")),
    Call(
        "get",
        "/v1/usage/character-stats",
        "What was used",
        of.document("time", "usage"),
        query=of.texts(*usage.KNOWN),
    ),
    Call(
        "get",
        "/v1/history",
        "The request log",
        of.document("history", "has_more"),
        query=of.texts(*history.KNOWN),
        refusals=(404,),
    ),
    Call("post", "/v1/history/download", "Audio is not kept", None, refusals=(404,)),
    Call("get", "/v1/history/{item_id}", "A request", of.document("history_item_id")),
    Call("delete", "/v1/history/{item_id}", "The log is kept", None, refusals=(409,)),
    Call("get", "/v1/history/{item_id}/audio", "Audio that is kept", {"audio/wav": of.BYTES}),
    Call("post", "/v1/single-use-token/{kind}", "A token for a browser", of.document("token")),
)

ELEVENLABS = Described(
    name="ElevenLabs",
    root="/elevenlabs",
    # A 422 has a list there.
    error={"type": "object", "properties": {"detail": {}}, "required": ["detail"]},
    calls=(*_SPEAKING, *_VOICES, *_ACCOUNT),
)
