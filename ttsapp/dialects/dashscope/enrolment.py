"""`tts/customization`: voices made from samples. Two families of clients post here, told apart by
what they call the model; each has its own words for the same things."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse

from ttsapp import database
from ttsapp.dialects.dashscope import lenient
from ttsapp.dialects.dashscope.dialect import DASHSCOPE
from ttsapp.dialects.door import endpoint
from ttsapp.errors import ApiError, invalid
from ttsapp.http import json_response, request_id
from ttsapp.ids import uuid7
from ttsapp.keys.authentication import Caller
from ttsapp.voices import bound, fields
from ttsapp.voices.clips.fetching import recording_of
from ttsapp.voices.models import Voice
from ttsapp.voices.services import cloning, registry
from ttsapp.voices.services.registry import Description

BODY: dict[str, Any] = {"model": str, "input": msgspec.Raw}
INPUT: dict[str, Any] = {
    "action": str,
    "target_model": str,
    "consent": str,
    **{"prefix": str, "url": str, "voice_id": str, "language_hints": list[str]},
    **{"preferred_name": str, "audio": msgspec.Raw, "text": str, "language": str, "voice": str},
    **{"page_index": int, "page_size": int},
}
_NAME = re.compile(r"\w{1,16}", re.ASCII)
_MOST_OF_A_PAGE, _USUAL_PAGE = 100, 10


@dataclass(frozen=True, slots=True)
class Family:
    """The words of one kind of client: for a voice's id, its name and its recording."""

    voice: str
    name: str
    recording: str
    suffix: str


_FAMILIES = {
    "voice-enrollment": Family("voice_id", "prefix", "input.url", "_voice"),
    "qwen-voice-enrollment": Family("voice", "preferred_name", "input.audio.data", ""),
}
Given = dict[str, Any]
Act = Callable[[Caller, Family, Given], Coroutine[Any, Any, dict[str, Any]]]


@endpoint(DASHSCOPE, "POST")
async def customization(request: HttpRequest, caller: Caller) -> HttpResponse:
    # Read past Django's limit for bodies that are no forms: a recording may be in it.
    body = lenient.fields(request.read(), BODY, ("model", "input"))
    family = _FAMILIES.get(body["model"])
    if family is None:
        known = " or ".join(_FAMILIES)
        raise invalid(f"model {body['model'][:50]!r} enrols no voices: send {known}.", "model")
    given = lenient.fields(bytes(body["input"]), INPUT, ("action",), within="input")
    action = given["action"].removesuffix("_voice")
    act = _ACTIONS.get(action)
    if act is None or given["action"] != action + family.suffix:
        known = ", ".join(name + family.suffix for name in _ACTIONS)
        raise invalid(f"input.action may be one of {known}.", "input.action")
    output = await act(caller, family, given)
    answer = {"output": output, "usage": {"count": 1}, "request_id": str(request_id())}
    return json_response(answer)


async def _create(caller: Caller, family: Family, given: Given) -> dict[str, Any]:
    """`input.consent` is our own field: no voice is cloned without one."""
    label = given.get(family.name, "")
    if not _NAME.fullmatch(label):
        message = f"input.{family.name} must be 1 to 16 letters, digits or underscores."
        raise invalid(message, f"input.{family.name}")
    hints = given.get("language_hints") or [given.get("language", "")]
    said = Description(
        # Its clients use one name for many voices, and tell them apart by id.
        name=f"{label}-{uuid7().hex[-8:]}",
        language=fields.language(hints[0] if hints else "", "input.language"),
    )
    tenant = await database.read(bound.maker, caller)
    consent, names = given.get("consent", ""), _names(family)
    await cloning.agreed(tenant, consent, names.consent)
    made = await cloning.clone(
        caller.actor,
        tenant,
        said,
        consent,
        await _recording(family, given),
        given.get("text", ""),
        names=names,
    )
    target = given.get("target_model", "")
    return {family.voice: made.public_id, "target_model": target, "fallback_mode": False}


async def _list(caller: Caller, family: Family, given: Given) -> dict[str, Any]:
    size, index = given.get("page_size", _USUAL_PAGE), given.get("page_index", 0)
    if not 1 <= size <= _MOST_OF_A_PAGE or index < 0:
        message = f"input.page_size may be 1 to {_MOST_OF_A_PAGE}, input.page_index 0 or more."
        raise invalid(message, "input.page_size")
    rows = await database.read(bound.voices_named, caller, given.get("prefix", ""))
    shown = rows[index * size : (index + 1) * size]
    found = [_described(family, row) for row in shown]
    return {"voice_list": found, "total_count": len(rows), "page_index": index, "page_size": size}


async def _query(caller: Caller, family: Family, given: Given) -> dict[str, Any]:
    return _described(family, await _row(caller, family, given))


async def _update(caller: Caller, family: Family, given: Given) -> dict[str, Any]:
    row = await _row(caller, family, given)
    sample = await _recording(family, given)
    await cloning.renew(caller.actor, row, sample, given.get("text", ""), _names(family))
    return {}


async def _delete(caller: Caller, family: Family, given: Given) -> dict[str, Any]:
    row = await _row(caller, family, given)
    await database.write(registry.delete_voice, caller.actor, row)
    return {family.voice: row.public_id}


_ACTIONS: dict[str, Act] = {
    "create": _create,
    "list": _list,
    "query": _query,
    "update": _update,
    "delete": _delete,
}


def _names(family: Family) -> cloning.Names:
    return cloning.Names(family.recording, "input.text", "input.consent", "input.language")


async def _recording(family: Family, given: Given) -> bytes:
    """Raises ApiError 400 or 413."""
    if family.recording == "input.url":
        address = given.get("url", "")
    else:
        raw = bytes(given.get("audio", b"{}"))
        address = lenient.fields(raw, {"data": str}, within="input.audio").get("data", "")
    if not address:
        message = f"{family.recording} is required: a data URL, or an https address."
        raise invalid(message, family.recording, "missing_field")
    return await recording_of(address, family.recording)


async def _row(caller: Caller, family: Family, given: Given) -> Voice:
    wanted = given.get(family.voice, "")
    row = await database.read(bound.voice_of, caller, wanted)
    if row is None:
        message = f"There is no voice {wanted[:50]!r} of yours: list them to see which there are."
        raise ApiError(404, "voice_not_found", message, field=f"input.{family.voice}")
    return row


def _described(family: Family, row: Voice) -> dict[str, Any]:
    made_at = row.created_at.strftime("%Y-%m-%d %H:%M:%S")
    return {
        family.voice: row.public_id,
        "language": row.language,
        "status": "OK" if row.state == "active" else "UNDEPLOYED",
        "gmt_create": made_at,
        "gmt_modified": made_at,
    }
