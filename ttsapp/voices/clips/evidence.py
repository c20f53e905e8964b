"""What proves a consent: a recording of the speaker saying so, or a signed document."""

from __future__ import annotations

from dataclasses import dataclass

from ttsapp.errors import invalid
from ttsapp.voices.clips.decoding import check_size, decode

LEAST_SECONDS = 1.0
# What browsers show without running anything, by how it begins.
_DOCUMENTS = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)
RECORDING = "audio"


@dataclass(frozen=True, slots=True)
class Evidence:
    """`media_type`: by what it is, not by what its sender calls it."""

    content: bytes
    media_type: str


async def evidence_of(
    content: bytes, field: str, tenant_id: int, *, is_document_allowed: bool = True
) -> Evidence:
    """Raises ApiError 400 or 413 on `field`."""
    check_size(content, field)
    for beginning, media_type in _DOCUMENTS:
        if is_document_allowed and content.startswith(beginning):
            return Evidence(content, media_type)
    recording = await decode(content, field, tenant_id)
    if recording.seconds < LEAST_SECONDS:
        message = f"{field} is {recording.seconds:.1f} seconds long: send the whole statement."
        raise invalid(message, field, "audio_too_short")
    return Evidence(content, RECORDING)
