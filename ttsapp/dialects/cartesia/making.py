"""Cloning, changing and deleting voices as Cartesia's clients do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse

from ttsapp import database, strict
from ttsapp.dialects.cartesia import voices
from ttsapp.dialects.cartesia.dialect import CARTESIA
from ttsapp.dialects.door import endpoint
from ttsapp.errors import ApiError
from ttsapp.http import json_response
from ttsapp.keys.authentication import Caller
from ttsapp.voices import bound, fields, uploads
from ttsapp.voices.models import Voice
from ttsapp.voices.selectors import visible
from ttsapp.voices.services import cloning, registry

# `accent`, `base_voice_id` and `enhance` are taken; what they ask for is not done here.
FIELDS = (
    *("name", "language", "description", "consent", "transcript"),
    *("accent", "base_voice_id", "enhance", "mode"),
)
_NAMES = cloning.Names(recording="clip", text="transcript")
CHANGES: dict[str, Any] = {"name": str, "description": str, "language": str}


@endpoint(CARTESIA, "POST")
async def clone(request: HttpRequest, caller: Caller) -> HttpResponse:
    """`consent` is our own field: no voice is cloned without one."""
    sent = uploads.form(request, FIELDS, ("clip",))
    said = uploads.described(sent)
    tenant = await database.read(bound.maker, caller)
    made = await cloning.clone(
        caller.actor,
        tenant,
        said,
        sent.text("consent"),
        await sent.recording("clip"),
        sent.text("transcript"),
        names=_NAMES,
    )
    return await _document(caller, made.public_id)


@endpoint(CARTESIA, "GET", "PATCH", "DELETE")
async def voice(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    if request.method == "GET":
        return await _document(caller, name)
    row, actor = await _row(caller, name), caller.actor
    if request.method == "DELETE":
        await database.write(registry.delete_voice, actor, row)
        return HttpResponse(status=204)
    changes = _changes(request.body)
    await cloning.check_name(changes.get("name", row.name), row.name)
    await cloning.check_language(changes.get("language", row.language), row.language)
    await database.write(registry.change_voice, actor, row, **changes)
    return await _document(caller, name)


async def _document(caller: Caller, name: str) -> HttpResponse:
    """As it is now, whatever was known of the caller's voices when the key was looked up."""
    served = await visible(replace(caller, shelf=None))
    return json_response(voices.document(served, name))


async def _row(caller: Caller, name: str) -> Voice:
    row = await database.read(bound.voice_of, caller, name)
    if row is None:
        message = f"There is no voice {name[:50]!r} of yours: GET /voices lists them."
        raise ApiError(404, "voice_not_found", message, field="id")
    return row


def _changes(body: bytes) -> dict[str, Any]:
    """Raises ApiError 400."""
    given = strict.fields(body, CHANGES, (), has_nulls=True)
    if "name" in given:
        given["name"] = fields.line(given["name"], "name", 100)
    if "description" in given:
        text = fields.line(given["description"], "description", 1000, is_required=False)
        given["description"] = text
    if "language" in given:
        given["language"] = fields.language(given["language"])
    return given
