"""DashScope's calls over HTTP, for the OpenAPI document."""

from __future__ import annotations

from ttsapp.dialects import described as of
from ttsapp.dialects.dashscope import enrolment, request
from ttsapp.dialects.described import Call, Described

_HELLO = {"model": "qwen3-tts-flash", "input": {"text": "Hello."}}
_LIST = {"model": "voice-enrollment", "input": {"action": "list_voice"}}
_ANSWER = {"type": "object", "required": ["output", "usage", "request_id"]}
_SAID = {
    "input": of.fields(request.INPUT, ("text",), is_lenient=True),
    "parameters": of.fields(request.EITHER, is_lenient=True),
}
_ASKED = {"input": of.fields(enrolment.INPUT, ("action",), is_lenient=True)}

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
        Call("get", "/audio/{name}", "Audio that is kept", {"audio/wav": of.BYTES}, is_open=True),
    ),
)
