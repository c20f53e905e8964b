"""Making, changing and deleting voices as ElevenLabs' clients do."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse

from ttsapp import database
from ttsapp.dialects.elevenlabs import voice_list
from ttsapp.dialects.elevenlabs.door import endpoint
from ttsapp.dialects.elevenlabs.request import check_query
from ttsapp.dialects.elevenlabs.settings import DEFAULTS, voice_settings
from ttsapp.errors import ApiError, invalid
from ttsapp.http import json_response
from ttsapp.keys.authentication import Caller
from ttsapp.voices import bound, fields, uploads
from ttsapp.voices.models import Stage, Voice
from ttsapp.voices.selectors import visible
from ttsapp.voices.services import cloning, registry
from ttsapp.voices.services.registry import Description
from ttsapp.voices.uploads import Form

FIELDS = ("name", "description", "labels", "remove_background_noise", "consent")
FILES = ("files", "files[]")
_NAMES = cloning.Names(recording="files", text="text", consent="labels.consent")
_LABELS = msgspec.json.Decoder(dict[str, str] | None)
_OK = {"status": "ok"}


@endpoint("POST")
async def add_voice(request: HttpRequest, caller: Caller) -> HttpResponse:
    """The speaker's consent is named among the labels: its clients have no field for it."""
    sent = uploads.form(request, FIELDS, FILES)
    said, consent = _said(sent)
    tenant = await database.read(bound.maker, caller)
    sample = _recording(sent)
    if sample is None:
        raise invalid("files is required: send a recording of the speaker.", "files")
    made = await cloning.clone(caller.actor, tenant, said, consent, sample, names=_NAMES)
    waits = made.stage == Stage.REVIEW
    return json_response({"voice_id": made.public_id, "requires_verification": waits})


@endpoint("POST")
async def edit_voice(request: HttpRequest, caller: Caller, voice_id: str) -> HttpResponse:
    row = await _row(caller, voice_id)
    sent = uploads.form(request, FIELDS, FILES)
    said, _ = _said(sent)
    await cloning.check_name(said.name, row.name)
    changed: dict[str, Any] = {"name": said.name}
    if "description" in sent.fields:
        changed["description"] = said.description
    if sent.text("labels", "null") != "null":
        await cloning.check_language(said.language, row.language)
        changed |= {"tags": list(said.tags), "language": said.language}
    if (sample := _recording(sent)) is not None:
        await cloning.renew(caller.actor, row, sample, "", _NAMES)
    await database.write(registry.change_voice, caller.actor, row, **changed)
    return json_response(_OK)


@endpoint("GET", "DELETE")
async def voice(request: HttpRequest, caller: Caller, voice_id: str) -> HttpResponse:
    if request.method == "GET":
        check_query(request.GET.dict(), ("with_settings",))
        return json_response(voice_list.one(await visible(caller), voice_id))
    row = await _row(caller, voice_id)
    await database.write(registry.delete_voice, caller.actor, row)
    return json_response(_OK)


@endpoint("GET")
async def settings(request: HttpRequest, caller: Caller, voice_id: str) -> HttpResponse:
    return json_response(voice_list.one(await visible(caller), voice_id)["settings"])


@endpoint("POST")
async def edit_settings(request: HttpRequest, caller: Caller, voice_id: str) -> HttpResponse:
    """The speed is kept; what has no effect here is taken."""
    given = voice_settings(request.body)
    row = await _row(caller, voice_id)
    speed = given.given.get("speed", DEFAULTS["speed"])
    await database.write(registry.change_voice, caller.actor, row, speed=speed)
    return json_response(_OK)


async def _row(caller: Caller, voice_id: str) -> Voice:
    row = await database.read(bound.voice_of, caller, voice_id)
    if row is None:
        message = f"There is no voice {voice_id[:50]!r} of yours: GET /v1/voices lists them."
        raise ApiError(404, "voice_not_found", message, field="voice_id")
    return row


def _said(sent: Form) -> tuple[Description, str]:
    """What the voice is called, and the id of its consent. Raises ApiError 422 or 400."""
    if not sent.text("name").strip():
        # Its own client drops the fields of a form when it sends that again.
        raise ApiError(422, "missing_field", "The field name is required: add it.", field="name")
    labels = _labels(sent.text("labels", "null"))
    consent = labels.pop("consent", "") or sent.text("consent")
    language = labels.pop("language", "")
    named = Form({**sent.fields, "language": language}, {})
    said = uploads.described(named)
    tags = fields.tags((f"{name}:{value}" for name, value in labels.items()), "labels")
    return Description(said.name, said.description, said.language, tuple(tags)), consent


def _labels(text: str) -> dict[str, str]:
    try:
        return _LABELS.decode(text.encode() or b"null") or {}
    except (msgspec.MsgspecError, RecursionError):
        message = 'labels must be a JSON object of texts, like {"accent": "Irish"}.'
        raise invalid(message, "labels", "invalid_type") from None


def _recording(sent: Form) -> bytes | None:
    """Of several the longest: one good recording says more than many short ones."""
    found = [content for name in FILES for content in sent.files.get(name, [])]
    return max(found, key=len, default=None)
