"""Forms with recordings in them: how large they may be, and what is in their fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from ttsapp import strict
from ttsapp.errors import ApiError, invalid
from ttsapp.voices import fields
from ttsapp.voices.clips.decoding import MOST_BYTES
from ttsapp.voices.clips.fetching import recording_of
from ttsapp.voices.services.consents import Terms
from ttsapp.voices.services.registry import Description

# A recording as base64, with some text around it.
_UPLOAD_BYTES = MOST_BYTES * 4 // 3 + 64 * 1024
_UPLOADS = re.compile(
    r"(?:/openai)?/v1/audio/(?:voices|voice_consents)"
    r"|(?:/elevenlabs)?/v1/voices/(?:add|[^/]+/edit)"
    r"|(?:/cartesia)?/voices/clone"
    r"|(?:/dashscope)?/api/v1/services/audio/tts/customization"
    r"|/console/[^/]+/(?:voices|consents)/.+"
)
_VALUES = msgspec.json.Decoder(list[float])


def body_limit(path: str) -> int:
    """The most bytes that a request to this path may carry."""
    is_upload = _UPLOADS.fullmatch(path) is not None
    return _UPLOAD_BYTES if is_upload else settings.DATA_UPLOAD_MAX_MEMORY_SIZE


@dataclass(frozen=True, slots=True)
class Form:
    """Fields and files, each by its name."""

    fields: dict[str, str]
    files: dict[str, list[bytes]]

    def text(self, name: str, usual: str = "") -> str:
        return self.fields.get(name, usual)

    def file(self, name: str) -> bytes | None:
        found = self.files.get(name, [])
        return found[0] if found else None

    def moment(self, name: str) -> datetime | None:
        """Raises ApiError 400."""
        if not (text := self.text(name)):
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            message = f"{name} must be a time like 2027-01-31T00:00:00Z."
            raise invalid(message, name) from None
        return found if found.tzinfo else timezone.make_aware(found)

    def number(self, name: str, usual: float) -> float:
        """Raises ApiError 400."""
        try:
            return float(self.text(name) or usual)
        except ValueError:
            raise invalid(f"{name} must be a number.", name, "invalid_type") from None

    async def recording(self, file: str, address: str | None = None) -> bytes:
        """What was uploaded, or named by an address. Raises ApiError 400 or 413."""
        content = self.file(file)
        named = self.text(address) if address is not None else ""
        if content is not None and named:
            raise invalid(f"Send {file} or {address}, not both.", address)
        if named and address is not None:
            return await recording_of(named, address)
        if content is None:
            message = f"The file {file} is required: send a recording of the speaker."
            raise invalid(message, file, "missing_field")
        return content

    def embedding(self, name: str) -> list[float]:
        """Raises ApiError 400."""
        try:
            return _VALUES.decode(self.text(name).encode())
        except (msgspec.MsgspecError, RecursionError):
            message = f"{name} must be a list of numbers, as JSON."
            raise invalid(message, name, "invalid_type") from None


def form(request: HttpRequest, known: tuple[str, ...], files: tuple[str, ...]) -> Form:
    """Of a multipart form. Raises ApiError 415, or 400 for what is neither known nor text."""
    if request.content_type != "multipart/form-data":
        raise ApiError(415, "unsupported_media_type", "Send the request as multipart/form-data.")
    found = {name: request.POST.get(name) or "" for name in request.POST}
    uploads = {name: request.FILES.getlist(name) for name in request.FILES}
    for name in (*found, *uploads):
        if name not in (known if name in found else files):
            said = name[:50]
            message = f"Unknown field {said!r}: leave it out. Known are {', '.join(known + files)}."
            raise invalid(message, said, "unknown_field")
    return Form(found, {name: [each.read() for each in some] for name, some in uploads.items()})


def json_form(body: bytes, known: tuple[str, ...], required: tuple[str, ...]) -> Form:
    """The same fields as a JSON object of texts. Raises ApiError 400."""
    kinds = dict.fromkeys(known, str)
    return Form(strict.fields(body, kinds, required, has_nulls=True), {})


def described(sent: Form, name: str = "name") -> Description:
    """What a voice is called and how it speaks. Raises ApiError 400."""
    return Description(
        name=fields.name(sent.text(name), name),
        description=fields.line(sent.text("description"), "description", 1000, is_required=False),
        language=fields.language(sent.text("language")),
        tags=tuple(fields.tags(each for each in sent.text("tags").split(",") if each.strip())),
        speed=fields.speed(sent.number("speed", 1.0)),
    )


def terms(sent: Form) -> Terms:
    """What a speaker agreed to; what is left out as an API's clients leave it out. Raises ApiError
    400."""
    usual = Terms(sent.text("name"), sent.text("person") or sent.text("name"))
    return Terms(
        name=usual.name,
        person=usual.person,
        relation=fields.relation(sent.text("relation", usual.relation.value)),
        purposes=sent.text("purposes") or usual.purposes,
        territory=sent.text("territory") or usual.territory,
        language=sent.text("language"),
        expires_at=sent.moment("expires_at"),
    )


TERMS = ("name", "language", "person", "relation", "purposes", "territory", "expires_at")
DESCRIPTION = ("name", "description", "language", "tags", "speed")
