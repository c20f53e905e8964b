"""`tts/customization`: voices made from samples, which this installation has no place for."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from ttsapp.dialects.dashscope.dialect import DASHSCOPE
from ttsapp.dialects.door import endpoint
from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller


@endpoint(DASHSCOPE, "POST")
async def customization(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    message = (
        "Voices cannot be enrolled here: no registry keeps voices of a tenant's own. "
        "Speak with one of the served model's voices; GET /v1/audio/voices lists them."
    )
    raise ApiError(400, "voice_enrolment", message)
