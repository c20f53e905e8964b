"""POST /v1/audio/speech: what a caller gets when all is well."""

from __future__ import annotations

import io
import wave
from uuid import UUID

import httpx

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken


def test_it_works(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    response = http.post("/v1/audio/speech", json=speech("Hello there."), headers=alice.headers)

    assert response.status_code == 200
    assert response.headers["content-type"] == "audio/pcm"
    assert response.headers["x-parlance-characters"] == "12"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.content == spoken(5)
    event = UsageEvent.objects.get(pk=UUID(response.headers["x-request-id"]))
    assert (event.tenant, event.key) == (alice.tenant, alice.key)
    assert (event.outcome, event.characters, event.billed_characters) == ("completed", 12, 12)
    assert (event.audio_ms, event.frames, event.predictor_ms) == (400, 5, 2.5)
    assert not Reservation.objects.exists()
