"""`/v1/history`: the account's request log. Texts are not in it, audio where it is kept."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from billing.selectors import charges
from ttsapp.audit.actions import Action
from ttsapp.audit.services import record
from ttsapp.dialects.elevenlabs import voices
from ttsapp.dialects.elevenlabs.query import Query
from ttsapp.dialects.elevenlabs.request import served_model
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller
from ttsapp.speech import captions, heard
from ttsapp.speech.encoders.formats import content_type
from ttsapp.speech.models import RequestLog
from ttsapp.voices.catalogue import Catalogue

KNOWN = (
    *("page_size", "start_after_history_item_id", "voice_id", "model_id", "date_before_unix"),
    *("date_after_unix", "sort_direction", "search", "source"),
)
_MOST = 1000


def page(tenant_id: int, query: Query, served: Catalogue) -> dict[str, Any]:
    """Raises ApiError 400."""
    wanted = _wanted(query, served)
    size = query.whole("page_size", 1, _MOST, 100) or 0
    is_speech = query.choice("source", ("tts", "sts", "flows"), "tts") == "tts"
    rows = list(heard.find(tenant_id, wanted)[: size + 1]) if is_speech else []
    items = _items(tenant_id, rows[:size])
    return {
        "history": items,
        "has_more": len(rows) > size,
        "last_history_item_id": items[-1]["history_item_id"] if items else None,
    }


def item(tenant_id: int, item_id: str) -> dict[str, Any]:
    """Raises ApiError 404."""
    return _items(tenant_id, [_row(tenant_id, item_id)])[0]


def audio(caller: Caller, item_id: str) -> bytes:
    """The WAV file of what the same key has spoken, where its account keeps that. Who listens is
    audited. Raises ApiError 404."""
    row = _row(caller.tenant_id, item_id)
    is_own = row.key_id is not None and row.key_id == caller.key_id
    found = heard.recording(row) if is_own else None
    if found is None:
        raise not_kept()
    with transaction.atomic():
        record(caller.actor, Action.REQUEST_HEARD, row.tenant, item_id)
    return found


def not_kept() -> ApiError:
    message = (
        "There is no audio of this for this key. An account's settings say whether audio is kept, "
        "and for how long; only the key that spoke it can fetch it."
    )
    return ApiError(404, "audio_not_kept", message)


def _row(tenant_id: int, item_id: str) -> RequestLog:
    row = heard.one(tenant_id, found) if (found := _uuid(item_id)) else None
    if row is None:
        message = "No such request, or it is older than this log."
        raise ApiError(404, "request_not_found", message, field="history_item_id")
    return row


def nothing_to_delete() -> ApiError:
    message = (
        "This is a line of your account's own request log, which holds neither text nor audio."
    )
    return ApiError(409, "log_is_kept", message, field="history_item_id")


def _wanted(query: Query, served: Catalogue) -> heard.Wanted:
    if query.text("search"):
        raise invalid("Texts are not kept, so none can be searched: leave search out.", "search")
    model = served_model(served, query.text("model_id") or None)
    voice, after = query.text("voice_id"), query.text("start_after_history_item_id")
    if after and _uuid(after) is None:
        name = "start_after_history_item_id"
        raise invalid(f"{name} is not the id of an item.", name)
    return heard.Wanted(
        voice=voices.preset(model, voice).name if voice else "",
        model=model.id if query.text("model_id") else "",
        since=query.moment("date_after_unix", 1000),
        until=query.moment("date_before_unix", 1000),
        after=_uuid(after),
        is_oldest_first=query.choice("sort_direction", ("asc", "desc"), "desc") == "asc",
    )


def _items(tenant_id: int, rows: list[RequestLog]) -> list[dict[str, Any]]:
    charged = charges(tenant_id, [row.pk for row in rows])
    return [
        {
            "history_item_id": str(row.id),
            "request_id": str(row.id),
            "voice_id": row.voice,
            "voice_name": row.voice,
            "voice_category": "premade",
            "model_id": row.model,
            "text": None,
            "date_unix": int(row.at.timestamp()),
            "character_count_change_from": 0,
            "character_count_change_to": charged.get(row.pk, 0),
            "content_type": _content_type(row.response_format),
            "state": "created",
            "settings": None,
            "source": "TTS",
        }
        for row in rows
    ]


def _content_type(name: str) -> str | None:
    # A line of the log was served once, by whatever API: it is no reason to refuse this request.
    return captions.CONTENT_TYPES.get(name) or content_type(name)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
