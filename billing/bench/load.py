"""One web process's metering under load: admitted, reserved and settled as requests are."""

from __future__ import annotations

import asyncio
import os
import random
import time
from dataclasses import dataclass

from billing.rating import Outcome
from billing.services import Usage
from ttsapp import background, ids
from ttsapp.keys.authentication import Caller
from ttsapp.speech.order import Order
from ttsapp.speech.services import Record
from ttsapp.speech.settlement import Settlement
from ttsapp.voices.catalogue import SpeechModel
from ttsapp.voices.own import Preset

VOICES = tuple(Preset(name, "english", "") for name in ("anna", "ben", "cleo", "dan"))
MODEL = SpeechModel("parlance-tiny", "custom_voice", VOICES, ("english",), "bench")
# The engine would be at work for so long; beyond it a reservation is written.
STREAM_SECONDS = 0.1
CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Measured:
    """`settle_ms`: from a request's end to its event, of every request."""

    requests: int
    seconds: float
    cpu_seconds: float
    settle_ms: list[float]


async def measure(callers: list[Caller], seconds: float, streams: int) -> Measured:
    """So many streams at all times, one request after the other in each."""
    chance = random.Random(os.getpid())
    settle_ms: list[float] = []
    began, cpu = time.monotonic(), time.process_time()
    until = began + seconds

    async def stream() -> None:
        while time.monotonic() < until:
            settle_ms.append(await _request(chance.choice(callers), chance.choice(VOICES)))

    await asyncio.gather(*(stream() for _ in range(streams)))
    took = time.monotonic() - began
    await background.drain(10)
    return Measured(len(settle_ms), took, time.process_time() - cpu, settle_ms)


async def _request(caller: Caller, voice: Preset) -> float:
    order = Order(
        id=ids.uuid7(),
        caller=caller,
        transport="http",
        model=MODEL,
        voice=voice,
        response_format="mp3",
        language="english",
        instructions="",
        seed=1,
    )
    settlement = Settlement(order)
    settlement.begin(CHARACTERS)
    await settlement.admitted()
    await asyncio.sleep(STREAM_SECONDS)
    ended = time.monotonic()
    usage = Usage(
        Outcome.COMPLETED,
        characters=CHARACTERS,
        billed_characters=CHARACTERS,
        audio_ms=7800,
        frames=98,
        text_tokens=40,
        talker_ms=61.25,
        predictor_ms=112.5,
        codec_ms=30.125,
        first_audio_ms=90,
        finish_reason="stop",
        engine="bench",
    )
    await settlement.settle(usage, Record(200, 100, 90, "stop"))
    return (time.monotonic() - ended) * 1000
