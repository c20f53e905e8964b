"""LiveKit's speech plugins, unmodified, asked once and over a stream. JSON on the last line."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import aiohttp
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT
from livekit.plugins import cartesia, deepgram, elevenlabs, openai

BASE, KEY = os.environ["BASE"], os.environ["KEY"]


def plugins(session: aiohttp.ClientSession) -> dict:
    return {
        "openai": lambda: openai.TTS(base_url=f"{BASE}/v1", api_key=KEY, response_format="wav"),
        "elevenlabs": lambda: elevenlabs.TTS(
            api_key=KEY, base_url=f"{BASE}/v1", encoding="pcm_24000", http_session=session
        ),
        "cartesia": lambda: cartesia.TTS(api_key=KEY, base_url=BASE, http_session=session),
        "deepgram": lambda: deepgram.TTS(
            api_key=KEY, base_url=f"{BASE}/v1/speak", http_session=session
        ),
    }


async def heard(stream) -> dict:
    seconds, words = 0.0, []
    async for audio in stream:
        seconds += audio.frame.duration
        words += [str(word) for word in audio.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, ())]
    return {"ms": round(seconds * 1000), "words": "".join(words).split()}


async def main(name: str) -> None:
    async with aiohttp.ClientSession() as session:
        plugin = plugins(session)[name]()
        found = {"once": await heard(plugin.synthesize("Hello there."))}
        if plugin.capabilities.streaming:
            stream = plugin.stream()
            for word in ("Hello ", "there. "):
                stream.push_text(word)
            stream.end_input()
            found["stream"] = await heard(stream)
        await plugin.aclose()
    print(json.dumps(found))


asyncio.run(main(sys.argv[1]))
