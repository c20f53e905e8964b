"""Cartesia's calls, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from ttsapp.dialects import described as of
from ttsapp.dialects.cartesia import formats, making, request, views, voices
from ttsapp.dialects.described import Call, Described
from ttsapp.speech.encoders.formats import content_types

_FORMAT = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}
_HELLO: dict[str, Any] = {
    "model_id": "sonic-2",
    "transcript": "Hello.",
    "voice": {"mode": "id", "id": voices.FEMALE[0]},
    "output_format": _FORMAT,
}
_NESTED = {
    "voice": of.of_type(str | request.VoiceObject),
    "output_format": of.fields(formats.FIELDS, ("container", "sample_rate")),
    "generation_config": of.fields(request.GENERATION),
}
_VOICE = of.document("id", "name", "language", "is_owner")


def _body(known: dict[str, Any]) -> of.Media:
    return of.body(of.fields(known, request.REQUIRED, _NESTED, example=_HELLO))


CARTESIA = Described(
    name="Cartesia",
    root="/cartesia",
    error=of.error("error_code", "title", "message", "request_id"),
    calls=(
        Call("get", "/", "Whether it is there", of.document("ok", "version"), is_open=True),
        Call(
            "post",
            "/tts/bytes",
            "Speak a text",
            dict.fromkeys(content_types(), of.BYTES),
            body=_body(request.BYTES),
            refusals=of.SPEECH,
        ),
        Call(
            "post",
            "/tts/sse",
            "Speak a text in events",
            {of.EVENTS: of.EVENT},
            body=_body(request.EVENTS),
            refusals=of.SPEECH,
        ),
        Call(
            "get",
            "/voices",
            "Voices that can be asked for",
            of.document("data", "has_more"),
            query=of.texts(*voices.KNOWN),
        ),
        Call(
            "post",
            "/voices/clone",
            "Make a voice",
            _VOICE,
            body=of.form(making.FIELDS, ("clip",), ("name", "consent", "clip")),
            refusals=of.FORMS,
        ),
        Call("get", "/voices/{name}", "A voice", _VOICE),
        Call(
            "patch",
            "/voices/{name}",
            "Change a voice",
            _VOICE,
            body=of.body(of.fields(making.CHANGES, example={"name": "Ann"})),
            refusals=(*of.BODY, 409),
        ),
        Call("delete", "/voices/{name}", "Delete a voice", {}),
        Call(
            "post",
            "/access-token",
            "A token for a browser",
            of.document("token"),
            body=of.body(
                of.fields(
                    views.TOKEN,
                    (),
                    {"grants": of.fields(views.GRANTS)},
                    example={"grants": {"tts": True}},
                )
            ),
            refusals=of.BODY,
        ),
    ),
)
