"""What a tenant speaks is kept to be heard again if it says so, and not otherwise."""

from __future__ import annotations

import io
import wave
from dataclasses import replace
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings

from tests.ttsapp.contexts import heard
from tests.ttsapp.scripted_engine import CHUNK_SAMPLES, ScriptedEngine, spoken
from ttsapp import background
from ttsapp.speech import kept, recording
from ttsapp.speech.context import Context
from ttsapp.speech.models import RequestLog
from ttsapp.speech.order import Order


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "DATA", tmp_path)
    return tmp_path / "recordings"


async def speak(order: Order, hours: int) -> str:
    """The name of what is kept."""
    context = Context(replace(order, caller=replace(order.caller, audio_hours=hours)))
    context.say("Hello there.")
    await heard(context)
    assert await background.drain(30) == 0
    return await sync_to_async(lambda: RequestLog.objects.get().recording)()


async def test_it_works(order: Order, engine: ScriptedEngine) -> None:
    name = await speak(order, 2)
    found = kept.read(kept.RECORDINGS, name)
    assert found is not None
    with wave.open(io.BytesIO(found)) as file:
        assert (file.getframerate(), file.readframes(file.getnframes())) == (24_000, spoken(5))


async def test_unless_it_is_wanted_nothing_is_kept(
    order: Order, engine: ScriptedEngine, folder: Path
) -> None:
    assert await speak(order, 0) == ""
    assert not await sync_to_async(folder.exists)()


async def test_of_a_long_one_the_beginning_is_kept(
    order: Order, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MOST_BYTES", 3 * CHUNK_SAMPLES)
    found = kept.read(kept.RECORDINGS, await speak(order, 2))
    assert found is not None
    assert found[44:] == spoken(2)
