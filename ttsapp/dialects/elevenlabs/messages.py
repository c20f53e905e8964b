"""The messages of both sockets. What a message is for is told by its fields, not by a type."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ttsapp import strict
from ttsapp.dialects.elevenlabs.dialect import code_of
from ttsapp.dialects.elevenlabs.request import check_locators
from ttsapp.dialects.elevenlabs.settings import VoiceSettings, voice_settings
from ttsapp.dialects.socket import POLICY, SERVER_FAULT
from ttsapp.errors import ApiError, invalid

DEFAULT_CONTEXT = "default"
_LONGEST_ID = 200
_MOST = 500
_KEYS = ("xi-api-key", "xi_api_key", "authorization")
_FIELDS: dict[str, Any] = {
    "text": str,
    "context_id": str,
    "contextId": str,
    "flush": bool,
    "close_context": bool,
    "close_socket": bool,
    "voice_settings": msgspec.Raw,
    "generation_config": msgspec.Raw,
    "pronunciation_dictionary_locators": list,
    "try_trigger_generation": bool,
    # Taken, and without effect.
    "generator_config": dict,
    **dict.fromkeys(_KEYS, str),
}


@dataclass(frozen=True, slots=True)
class Message:
    """`settings`: None where there are none, or the usual ones. `key`: as an Authorization header
    has it. `schedule`: empty where there is none. `is_trigger`: it shall not hold for this text."""

    text: str | None
    context_id: str
    settings: VoiceSettings | None
    schedule: tuple[int, ...]
    key: str
    is_flush: bool
    is_trigger: bool
    closes_context: bool
    closes_socket: bool


def parse(text: str) -> Message:
    """Raises ApiError 400."""
    fields = strict.fields(text.encode(), _FIELDS, (), has_nulls=True, needed=("text",))
    settings = voice_settings(fields.get("voice_settings", b"{}"))
    check_locators(fields.get("pronunciation_dictionary_locators"))
    context_id = fields.get("context_id") or fields.get("contextId") or DEFAULT_CONTEXT
    if len(context_id) > _LONGEST_ID:
        raise invalid(f"A context_id may have {_LONGEST_ID} characters.", "context_id")
    return Message(
        text=fields.get("text"),
        context_id=context_id,
        settings=settings if settings.given else None,
        schedule=_schedule(fields),
        key=_key(fields),
        is_flush=fields.get("flush", False),
        is_trigger=fields.get("try_trigger_generation", False),
        closes_context=fields.get("close_context", False),
        closes_socket=fields.get("close_socket", False),
    )


def audio(data: bytes, alignment: dict[str, Any] | None, context_id: str | None) -> str:
    return _write(
        context_id,
        audio=base64.b64encode(data).decode(),
        alignment=alignment,
        normalizedAlignment=alignment,
        isFinal=None,
    )


def final(context_id: str | None) -> str:
    return _write(context_id, audio=None, isFinal=True)


def failure(error: ApiError, context_id: str | None = None) -> str:
    return _write(context_id, message=error.named, error=code_of(error), code=close_code(error))


def text_is_over() -> ApiError:
    """Told without an end of what is still being spoken."""
    return invalid("The text has ended already: this is not spoken.", "text", "out_of_order")


def close_code(error: ApiError) -> int:
    """What a socket is closed with that cannot go on."""
    return POLICY if error.status < 500 else SERVER_FAULT


def _write(context_id: str | None, **fields: Any) -> str:
    """Frameworks look for the id in this spelling alone."""
    named = {} if context_id is None else {"contextId": context_id}
    return msgspec.json.encode({**fields, **named}).decode()


def _key(fields: Mapping[str, Any]) -> str:
    found: str = next((fields[name] for name in _KEYS if fields.get(name)), "")
    return f"Bearer {found}" if found and " " not in found else found


def _schedule(fields: Mapping[str, Any]) -> tuple[int, ...]:
    """Empty where none is given."""
    config = strict.fields(
        fields.get("generation_config", b"{}"),
        {"chunk_length_schedule": list},
        (),
        within="generation_config",
        has_nulls=True,
    )
    schedule = config.get("chunk_length_schedule")
    if schedule is None:
        return ()
    if not schedule or not all(type(one) is int and 1 <= one <= _MOST for one in schedule):
        message = f"chunk_length_schedule is a list of whole numbers from 1 to {_MOST}."
        raise invalid(message, "generation_config.chunk_length_schedule")
    return tuple(schedule)
