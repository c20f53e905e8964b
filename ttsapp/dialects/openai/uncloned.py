"""What other servers clone a voice by within a request. Here none is cloned without a consent."""

from __future__ import annotations

from ttsapp.errors import ApiError, invalid

FIELDS = ("ref_audio", "ref_text", "x_vector_only_mode", "speaker_embedding")
CODE = "clone_without_consent"


def told(error: ApiError) -> ApiError:
    """In place of an unknown field's refusal, where it is one of these."""
    if error.code != "unknown_field" or error.field not in FIELDS:
        return error
    return refused(error.field)


def refused(field: str) -> ApiError:
    message = (
        f"{field} would clone a voice without its speaker's consent. Record a consent (POST "
        "/v1/audio/voice_consents) and send its id as consent; or make the voice under it (POST "
        "/v1/audio/voices), and send its id as voice: docs/voices.md."
    )
    return invalid(message, field, CODE)
