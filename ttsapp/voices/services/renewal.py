"""Voices follow their model: other weights need other artifacts, made of the kept clips."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import structlog

from ttsapp import database
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.voices import selectors, storage
from ttsapp.voices.catalogue import SpeechModel
from ttsapp.voices.clips.checks import Reference, Window
from ttsapp.voices.clips.decoding import decode
from ttsapp.voices.models import Voice, VoiceVersion
from ttsapp.voices.services import encoding, registry
from ttsapp.voices.storage import Blob, DamagedError

log = structlog.get_logger()


async def renew_outdated() -> int:
    """All of them, one after the other; returns how many. Those that cannot be are logged, and
    refused as `voice_not_served` until somebody sends another recording."""
    try:
        served = await selectors.catalogue()
    except ApiError:
        # No engine to make them: another time.
        return 0
    models = {model.id: model for model in served.models}
    outdated = await database.read(
        selectors.outdated, {name: model.fingerprint for name, model in models.items()}
    )
    return sum([await _renew(models[last.model], voice, last) for voice, last in outdated])


async def _renew(model: SpeechModel, voice: Voice, version: VoiceVersion) -> bool:
    try:
        clip = storage.get(Blob.CLIP, version.clip)
        decoded = await decode(clip, "clip", voice.tenant_id)
        window = Window(0, len(decoded.samples))
        reference = Reference(decoded.samples, window, version.checks)
        encoded = await encoding.encode(model, reference, version.text)
        cut = replace(encoded, start_ms=version.start_ms, end_ms=version.end_ms)
        add = partial(registry.add_version, SYSTEM, voice, cut)
        return await encoding.kept(add, cut) is not None
    except (ApiError, DamagedError) as error:
        log.warning("a voice could not be renewed", voice=voice.public_id, error=str(error))
        return False
