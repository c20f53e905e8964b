"""Pipecat's speech services, unmodified, saying one turn of an agent, after one that is interrupted
if `interrupted` is said. JSON on the last line."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys

import aiohttp
from pipecat.frames.frames import (
    ErrorFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.deepgram.tts import DeepgramTTSService
from pipecat.services.elevenlabs.tts import ElevenLabsHttpTTSService, ElevenLabsTTSService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.tests.utils import SleepFrame, run_test

BASE, KEY = os.environ["BASE"], os.environ["KEY"]
SOCKETS = BASE.replace("http", "ws", 1)
RACHEL, KATIE = "21m00Tcm4TlvDq8ikWAM", "f786b574-daa5-4673-aa0c-cbe3e8534c02"
SECONDS = 3


def services(session: aiohttp.ClientSession) -> dict:
    return {
        "openai": lambda: OpenAITTSService(api_key=KEY, base_url=f"{BASE}/v1", voice="alloy"),
        "elevenlabs": lambda: ElevenLabsTTSService(api_key=KEY, voice_id=RACHEL, url=SOCKETS),
        "elevenlabs http": lambda: ElevenLabsHttpTTSService(
            api_key=KEY, voice_id=RACHEL, base_url=BASE, aiohttp_session=session
        ),
        "cartesia": lambda: CartesiaTTSService(
            api_key=KEY, voice_id=KATIE, url=f"{SOCKETS}/tts/websocket"
        ),
        "deepgram": lambda: DeepgramTTSService(
            api_key=KEY, voice="aura-2-thalia-en", base_url=SOCKETS
        ),
    }


def turn(text: str) -> list:
    return [LLMFullResponseStartFrame(), LLMTextFrame(text), LLMFullResponseEndFrame()]


async def spoken(service, is_interrupted: bool) -> dict:
    before = [*turn("Never mind."), SleepFrame(sleep=SECONDS), InterruptionFrame()]
    down, up = await run_test(
        service,
        frames_to_send=[
            *(before if is_interrupted else []),
            *turn("Hello there."),
            SleepFrame(sleep=SECONDS),
        ],
        pipeline_params=PipelineParams(audio_out_sample_rate=24_000),
        start_timeout=20.0,
    )
    breaks = [place for place, frame in enumerate(down) if isinstance(frame, InterruptionFrame)]
    down = down[breaks[-1] + 1 :] if breaks else down
    audio = b"".join(frame.audio for frame in down if isinstance(frame, TTSAudioRawFrame))
    return {
        "bytes": len(audio),
        "sha256": hashlib.sha256(audio).hexdigest(),
        "text": " ".join(frame.text for frame in down if isinstance(frame, TTSTextFrame)),
        "errors": [str(frame.error) for frame in up if isinstance(frame, ErrorFrame)],
    }


async def main(name: str, how: str = "") -> None:
    async with aiohttp.ClientSession() as session:
        print(json.dumps(await spoken(services(session)[name](), how == "interrupted")))


asyncio.run(main(*sys.argv[1:]))
