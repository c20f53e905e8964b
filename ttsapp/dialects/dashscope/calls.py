"""DashScope's calls over HTTP, for the OpenAPI document."""

from __future__ import annotations

from ttsapp.dialects import described as of
from ttsapp.dialects.dashscope import enrolment, request, synthesizer
from ttsapp.dialects.described import Call, Described

_HELLO = {"model": "qwen3-tts-flash", "input": {"text": "Hello."}}
_COSY = {"model": "cosyvoice-v3-flash", "input": {"text": "Hello.", "format": "mp3"}}
_LIST = {"model": "voice-enrollment", "input": {"action": "list_voice"}}
_ANSWER = {"type": "object", "required": ["output", "usage", "request_id"]}
_SAID = {
    "input": of.fields(request.INPUT, ("text",), is_lenient=True),
    "parameters": of.fields(request.EITHER, is_lenient=True),
}
_ASKED = {"input": of.fields(enrolment.INPUT, ("action",), is_lenient=True)}

_KEPT = dict.fromkeys(("audio/wav", "audio/mpeg", "audio/pcm", "audio/ogg"), of.BYTES)

DASHSCOPE = Described(
    name="DashScope",
    root="/dashscope",
    error=of.error("code", "message", "request_id"),
    calls=(
        Call(
            "post",
            "/api/v1/services/aigc/multimodal-generation/generation",
            "Speak a text",
            {of.JSON: _ANSWER, of.EVENTS: of.EVENT},
            headers={"X-DashScope-SSE": {"enum": ["enable", "disable"]}},
            body=of.body(
                of.fields(request.BODY, ("model", "input"), _SAID, example=_HELLO, is_lenient=True)
            ),
            refusals=of.SPEECH,
        ),
        Call(
            "post",
            "/api/v1/services/audio/tts/SpeechSynthesizer",
            "Speak a text, as CosyVoice does",
            {of.JSON: _ANSWER, of.EVENTS: of.EVENT},
            headers={"X-DashScope-SSE": {"enum": ["enable", "disable"]}},
            body=of.body(
                of.fields(
                    request.BODY,
                    ("model", "input"),
                    {"input": of.fields(synthesizer.INPUT, ("text",), is_lenient=True)},
                    example=_COSY,
                    is_lenient=True,
                )
            ),
            refusals=of.SPEECH,
        ),
        Call(
            "post",
            "/api/v1/services/audio/tts/customization",
            "Make, list, look up, renew and delete voices",
            {of.JSON: _ANSWER},
            body=of.body(
                of.fields(
                    enrolment.BODY, ("model", "input"), _ASKED, example=_LIST, is_lenient=True
                )
            ),
            refusals=of.FORMS,
        ),
        Call("get", "/audio/{name}", "Audio that is kept", _KEPT, is_open=True),
    ),
)
