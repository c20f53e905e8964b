"""Voices of one's own and the consents they rest on, as OpenAI's clients make them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ttsapp import database
from ttsapp.dialects.door import endpoint
from ttsapp.dialects.openai import documents
from ttsapp.dialects.openai.dialect import OPENAI
from ttsapp.errors import ApiError, invalid, voice_error
from ttsapp.http import json_response
from ttsapp.keys.authentication import Caller
from ttsapp.tenants import selectors as tenants
from ttsapp.voices import bound, selectors, uploads
from ttsapp.voices.clips.evidence import evidence_of
from ttsapp.voices.models import Consent, Voice
from ttsapp.voices.selectors import listed, visible
from ttsapp.voices.services import cloning, consents, designing, registry
from ttsapp.voices.uploads import Form

FIELDS = (
    *uploads.DESCRIPTION,
    *("type", "consent", "ref_audio", "ref_text", "embedding", "prompt", "model", "script_hint"),
)
FILES = ("audio_sample",)
# What a voice is made of, and what would go unheard beside it.
_NOT_BESIDE = {
    "prompt": ("embedding", "audio_sample", "ref_audio", "ref_text"),
    "embedding": ("prompt", "audio_sample", "ref_audio", "ref_text"),
    "audio_sample": ("prompt",),
}
_NAMES = cloning.Names(text="ref_text")
_MOST, _USUAL = 100, 20


@endpoint(OPENAI, "GET", "POST")
async def voices(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    if request.method == "GET":
        return json_response(documents.voices(await listed(caller)))
    made = await _make(request, caller)
    served = await visible(replace(caller, shelf=None, rules=None))
    return json_response(documents.voice(served, made.public_id))


@endpoint(OPENAI, "GET", "DELETE")
async def voice(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    if request.method == "GET":
        try:
            return json_response(documents.voice(await visible(caller), name))
        except ApiError as error:
            raise voice_error(error, "voice_id") from None
    row = await database.read(bound.voice_of, caller, name)
    if row is None:
        raise _unknown_voice(name)
    await database.write(registry.delete_voice, caller.actor, row)
    return json_response({"id": name, "object": "audio.voice.deleted", "deleted": True})


@endpoint(OPENAI, "GET", "POST")
async def voice_consents(request: HttpRequest, caller: Caller) -> HttpResponse:
    if request.method == "GET":
        page = await database.read(_consent_page, caller.tenant_id, request.GET.dict())
        return json_response(page)
    sent = uploads.form(request, uploads.TERMS, ("recording",))
    terms = uploads.terms(sent).checked()
    content = await sent.recording("recording")
    evidence = await evidence_of(content, "recording", caller.tenant_id)
    tenant = await database.read(tenants.tenant, caller.tenant_id)
    made = await database.write(consents.record_consent, caller.actor, tenant, terms, evidence)
    return json_response(documents.consent(made))


@endpoint(OPENAI, "GET", "POST", "DELETE")
async def voice_consent(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    row = await _consent(caller, name)
    if request.method != "GET":
        await database.read(bound.check_consent, caller, row)
    if request.method == "DELETE":
        await database.write(consents.delete_consent, caller.actor, row)
        return json_response({"id": name, "object": "audio.voice_consent", "deleted": True})
    if request.method == "POST":
        sent = uploads.json_form(request.body, ("name",), ("name",))
        await database.write(consents.rename_consent, caller.actor, row, sent.text("name"))
        row.name = sent.text("name").strip()
    return json_response(documents.consent(row))


@endpoint(OPENAI, "POST")
async def withdrawal(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    """Our own: the consent stays on record, and its voices stop everywhere within a second."""
    row = await _consent(caller, name)
    await database.read(bound.check_consent, caller, row)
    sent = uploads.json_form(request.body or b"{}", ("reason",), ())
    await database.write(consents.withdraw_consent, caller.actor, row, sent.text("reason"))
    return json_response(documents.consent(await _consent(caller, name)))


async def _make(request: HttpRequest, caller: Caller) -> Voice:
    sent = _sent(request)
    said = uploads.described(sent)
    tenant = await database.read(bound.maker, caller)
    kind = sent.text("type", "audio_sample" if not sent.text("prompt") else "prompt")
    if kind == "prompt":
        _check_alone(sent, kind)
        return await designing.design(caller.actor, caller, tenant, said, sent.text("prompt"))
    if kind != "audio_sample":
        raise invalid("type may be audio_sample or prompt.", "type")
    _check_alone(sent, "embedding" if sent.text("embedding") else kind)
    if sent.text("embedding"):
        values = sent.embedding("embedding")
        return await cloning.embed(caller.actor, tenant, said, sent.text("consent"), values)
    text, consent = sent.text("ref_text"), sent.text("consent")
    await cloning.agreed(tenant, consent, _NAMES.consent)
    recording = await sent.recording("audio_sample", "ref_audio")
    names = replace(_NAMES, recording="ref_audio") if sent.text("ref_audio") else _NAMES
    return await cloning.clone(caller.actor, tenant, said, consent, recording, text, names=names)


def _check_alone(sent: Form, source: str) -> None:
    """Raises ApiError 400 for what the voice would not be made of: nobody is to believe it was."""
    for name in _NOT_BESIDE[source]:
        if sent.text(name) or sent.file(name) is not None:
            message = f"This voice would be made of its {source} alone: leave {name} out."
            raise invalid(message, name)


def _sent(request: HttpRequest) -> Form:
    if request.content_type == "application/json":
        return uploads.json_form(request.read(), FIELDS, ("name",))
    if request.content_type != "multipart/form-data":
        message = "Send the request as multipart/form-data or application/json."
        raise ApiError(415, "unsupported_media_type", message)
    return uploads.form(request, FIELDS, FILES)


def _unknown_voice(name: str) -> ApiError:
    message = f"There is no voice {name[:50]!r} of yours: GET /v1/audio/voices lists them."
    return ApiError(404, "voice_not_found", message, field="voice_id")


async def _consent(caller: Caller, name: str) -> Consent:
    """Raises ApiError 404."""
    row = await database.read(selectors.consent_of, caller.tenant_id, name)
    if row is None:
        message = f"There is no consent {name[:50]!r}: GET /v1/audio/voice_consents lists them."
        raise ApiError(404, "consent_not_found", message, field="consent_id")
    return row


def _consent_page(tenant_id: int, query: dict[str, str]) -> dict[str, Any]:
    """Newest first. Raises ApiError 400."""
    text = query.get("limit", str(_USUAL))
    if not (text.isdecimal() and len(text) <= 3 and 1 <= int(text) <= _MOST):
        raise invalid(f"limit may be a whole number from 1 to {_MOST}.", "limit")
    found = selectors.consents(tenant_id)
    if after := query.get("after"):
        last = found.filter(public_id=after).first()
        if last is None:
            raise invalid(f"after {after[:50]!r} is no consent of this account.", "after")
        found = found.filter(pk__lt=last.pk)
    rows = list(found[: int(text) + 1])
    data = [documents.consent(row) for row in rows[: int(text)]]
    return {
        "object": "list",
        "data": data,
        "has_more": len(rows) > int(text),
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
    }
