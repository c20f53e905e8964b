"""Contexts without a dialect: an order of Alice's, and what is heard of it."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from tests.ttsapp.scripted_engine import ScriptedEngine
from ttsapp import ids
from ttsapp.keys.authentication import Caller
from ttsapp.speech.context import Context
from ttsapp.speech.events import Audio, Event, Word, Words
from ttsapp.speech.order import Order
from ttsapp.voices.catalogue import Preset, SpeechModel

if TYPE_CHECKING:
    from tests.ttsapp.conftest import Party

VOICE = Preset("Anna", "english", "A calm female voice")
SERVED = SpeechModel("scripted-voices", "custom_voice", (VOICE,), ("english",), "scripted-1")


def order_of(party: Party) -> Order:
    return Order(
        id=ids.uuid7(),
        caller=Caller(party.tenant.pk, party.key.pk, "key:alice"),
        transport="ws",
        model=SERVED,
        voice=VOICE,
        response_format="pcm",
        language="english",
        instructions="",
        seed=1,
        text_field="text",
    )


async def heard(context: Context) -> list[Event]:
    async with aclosing(context.events()) as events:
        return [event async for event in events]


def audio(events: list[Event]) -> bytes:
    return b"".join(event.pcm for event in events if isinstance(event, Audio))


def texts(engine: ScriptedEngine) -> list[str]:
    return [stream.text for stream in engine.heard]


def words(events: list[Event]) -> list[Word]:
    return [word for event in events if isinstance(event, Words) for word in event.words]
