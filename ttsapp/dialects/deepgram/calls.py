"""Deepgram's call, for the OpenAPI document."""

from __future__ import annotations

from ttsapp.dialects import described as of
from ttsapp.dialects.deepgram import request
from ttsapp.dialects.described import Call, Described
from ttsapp.speech.encoders.formats import content_types

DEEPGRAM = Described(
    name="Deepgram",
    root="/deepgram",
    error=of.error("err_code", "err_msg", "request_id"),
    calls=(
        Call(
            "post",
            "/v1/speak",
            "Speak a text",
            dict.fromkeys(content_types(), of.BYTES),
            query={
                **of.texts(*request.KNOWN, *request.IGNORED),
                "encoding": {"enum": list(request.ENCODINGS)},
            },
            body={
                of.JSON: of.fields({"text": str}, ("text",), example={"text": "Hello."}),
                "text/plain": of.TEXT | {"example": "Hello."},
            },
            refusals=of.SPEECH,
        ),
    ),
)
