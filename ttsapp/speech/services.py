"""Writing the request log, together with the usage it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from billing import services as billing
from billing.prices.rates import VoiceKind
from billing.statements import Row, insert_new
from ttsapp import ids
from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.speech import texts
from ttsapp.speech.models import RequestLog
from ttsapp.speech.order import Order
from ttsapp.voices.models import Kind
from ttsapp.voices.own import OwnVoice, Preset

_SOLD_AS: dict[str, VoiceKind] = {
    Kind.X_VECTOR: VoiceKind.CLONED,
    Kind.IN_CONTEXT: VoiceKind.CLONED,
    Kind.DESIGNED: VoiceKind.DESIGNED,
}


@dataclass(frozen=True, slots=True)
class Record:
    """How a request fared, as its log row will say. `text`: that is kept beside the row."""

    status: int
    total_ms: int
    first_audio_ms: int | None
    finish_reason: str
    error: ApiError | None = None
    timeline: bytes | None = None
    recording: str = ""
    asked: bytes | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """A request that has ended, what it used and how it fared."""

    order: Order
    usage: billing.Usage
    record: Record

    @property
    def is_capped(self) -> bool:
        return self.usage == self.usage.capped()

    def capped(self) -> Closing:
        """With no more charged than was used."""
        return replace(self, usage=self.usage.capped())


@transaction.atomic
def close_all(closings: Iterable[Closing]) -> int:
    """Settles each usage and writes its log row, all or none. Returns how many were the first to
    do so for their request."""
    by_id = {closing.order.id: closing for closing in closings}
    ended = [(metered(closing.order), closing.usage) for closing in by_id.values()]
    first = billing.settle_all(ended)
    insert_new(RequestLog, [_log_row(by_id[request_id]) for request_id in first])
    texts.write(_said(by_id[request_id]) for request_id in first)
    return len(first)


def _said(closing: Closing) -> texts.Said:
    order = closing.order
    return texts.Said(order.caller.tenant_id, order.id, closing.record.text, order.instructions)


def log_refusal(request_id: UUID, caller: Caller, transport: str, error: ApiError) -> None:
    """Notes a request that never reached the engine: nothing used, nothing charged.

    Saying it twice changes nothing."""
    row = RequestLog(
        id=request_id,
        tenant_id=caller.tenant_id,
        key_id=caller.key_id,
        at=ids.moment(request_id),
        transport=transport,
        status=error.status,
        error_code=_short(error.code),
        error_field=_short(error.field),
    )
    RequestLog.objects.bulk_create([row], ignore_conflicts=True)


def close_orphans(older_than: timedelta) -> int:
    """Settles what processes that died left open, each with its log row. Returns how many."""
    return billing.close_orphans(older_than, _log_lost)


def _log_row(closing: Closing) -> Row:
    order, usage, record = closing.order, closing.usage, closing.record
    return {
        "id": order.id,
        "tenant_id": order.caller.tenant_id,
        "key_id": order.caller.key_id,
        "at": ids.moment(order.id),
        "transport": order.transport,
        "status": record.status,
        "model": order.model.id,
        "voice": order.voice.name,
        "response_format": order.response_format,
        "seed": order.seed,
        "characters": usage.characters,
        "audio_ms": usage.audio_ms,
        "first_audio_ms": record.first_audio_ms,
        "total_ms": record.total_ms,
        "finish_reason": record.finish_reason,
        "error_code": _short(record.error.code) if record.error else "",
        "error_field": _short(record.error.field) if record.error else "",
        "timeline": record.timeline,
        "recording": record.recording,
        "asked": record.asked,
    }


def _log_lost(request: billing.Metered) -> None:
    RequestLog.objects.create(
        id=request.id,
        tenant_id=request.tenant_id,
        key_id=request.key_id,
        at=ids.moment(request.id),
        transport=request.transport,
        status=500,
        model=request.model,
        voice=request.voice,
        response_format=request.response_format,
        seed=request.seed,
        characters=request.characters,
        finish_reason="error",
        error_code="lost",
    )


def voice_kind(voice: Preset) -> VoiceKind:
    """As price books know it."""
    return _SOLD_AS[voice.kind] if isinstance(voice, OwnVoice) else VoiceKind.PRESET


def metered(order: Order, characters: int = 0) -> billing.Metered:
    """`characters`: of the text that is there, which is all that is told if the process dies."""
    return billing.Metered(
        id=order.id,
        tenant_id=order.caller.tenant_id,
        key_id=order.caller.key_id,
        model=order.model.id,
        voice=order.voice.name,
        voice_kind=voice_kind(order.voice),
        transport=order.transport,
        response_format=order.response_format,
        seed=order.seed,
        characters=characters,
    )


def _short(text: str | None) -> str:
    """As it fits the column; a caller's own field name may hold what no database takes."""
    shown = (character if character.isprintable() else "\ufffd" for character in (text or "")[:50])
    return "".join(shown)
