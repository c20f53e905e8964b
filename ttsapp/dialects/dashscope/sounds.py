"""What the answers over HTTP say of their audio: its id, its bytes or its address, its end."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import HttpRequest
from django.urls import reverse

from ttsapp.speech import kept
from ttsapp.speech.session import Session

# The string, not the value: its clients compare with it.
NOT_YET = "null"


def sound(session: Session, *, expires_at: int, data: str = "", url: str = "") -> dict[str, Any]:
    name = f"audio_{session.order.id.hex}"
    return {"id": name, "data": data, "url": url, "expires_at": expires_at}


async def address(
    request: HttpRequest, session: Session, file: bytes, kind: str
) -> dict[str, Any] | None:
    """Where the whole, a file of that kind, can be fetched. None where it cannot be kept."""
    found = await kept.keep(file, session.order.voice, kind)
    if found is None:
        return None
    url = request.build_absolute_uri(reverse("dashscope-audio", args=[found.name]))
    return sound(session, url=url, expires_at=found.expires_at)


def document(
    session: Session, audio: dict[str, Any], *, is_last: bool = False, **beside: Any
) -> dict[str, Any]:
    """`beside`: what else stands in the output."""
    reason = session.tally.finish_reason if is_last else NOT_YET
    report = session.end.report if is_last and session.end else None
    characters = report.billed_characters if report else session.tally.characters
    return {
        "output": {"finish_reason": reason, "audio": audio, **beside},
        "usage": {"characters": characters},
        "request_id": str(session.order.id),
    }


def event(place: int, kind: str, data: dict[str, Any], status: int | None = None) -> bytes:
    told = ":HTTP_STATUS/200" if status is None else f"status:{status}"
    head = f"id:{place}\nevent:{kind}\n{told}\ndata:"
    return head.encode() + msgspec.json.encode(data) + b"\n\n"
