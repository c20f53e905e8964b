"""Whether a recording's words are those that were sent with it, by a recogniser that the
installation names: any server of OpenAI's transcription call."""

from __future__ import annotations

import asyncio
import difflib
import http.client
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import msgspec
import structlog
from django.conf import settings

from ttsapp import outgoing
from ttsapp.errors import invalid
from ttsapp.speech.encoders import audio_format, encode_whole
from ttsapp.speech.encoders.samples import Samples, to_int16

log = structlog.get_logger()

SECONDS = 20.0
# Recognisers spell names and numbers in their own way; another text has a fifth in common.
LEAST_SHARED = 0.5
# Words of one letter, where none are written apart.
_LETTERS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_LETTERS}]|[^\W_{_LETTERS}]+")
_EVERYWHERE = ("0.0.0.0/0", "::/0")

# Of their own: a recogniser that is slow holds up new voices alone.
_threads = ThreadPoolExecutor(4, "hearing")


class _Heard(msgspec.Struct):
    text: str


async def check_words(samples: Samples, text: str, field: str) -> str:
    """Raises ApiError 400 for a text that is not what is said. Comes back with a note where that
    is not known: a recogniser that is away keeps nobody from cloning."""
    if not settings.TRANSCRIPTION_URL:
        return ""
    try:
        # The wait for others' recordings counts too.
        async with asyncio.timeout(SECONDS):
            loop = asyncio.get_running_loop()
            heard = await loop.run_in_executor(_threads, _transcribed, samples)
    except (OSError, http.client.HTTPException, ValueError, msgspec.MsgspecError) as error:
        log.error("a recording's words were not heard", error=repr(error))
        return "Its words were not compared with the text: the recogniser did not answer."
    if shared(text, heard) < LEAST_SHARED:
        message = (
            f"{field} is not what is said: heard was {_short(heard)!r}. Send the words of the "
            "recording, or another recording."
        )
        raise invalid(message, field, "transcript_mismatch")
    return ""


def shared(text: str, heard: str) -> float:
    """How much of the words of both they have in common, in their order: 0 to 1."""
    return difflib.SequenceMatcher(None, _words(text), _words(heard), autojunk=False).ratio()


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _transcribed(samples: Samples) -> str:
    """Raises OSError, HTTPException, ValueError."""
    place = outgoing.parsed(settings.TRANSCRIPTION_URL, ("https", "http"))
    if place is None:
        raise ValueError("PARLANCE_TRANSCRIPTION_URL is no address")
    boundary = uuid4().hex
    wav = encode_whole(audio_format("wav"), to_int16(samples).tobytes())
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    if settings.TRANSCRIPTION_KEY:
        headers["Authorization"] = f"Bearer {settings.TRANSCRIPTION_KEY}"
    with outgoing.connection(place, SECONDS, _EVERYWHERE) as connection:
        connection.request("POST", outgoing.target(place), _form(boundary, wav), headers)
        response = connection.getresponse()
        answer = response.read(1 << 20)
    if response.status != 200:
        raise ValueError(f"the recogniser answered with {response.status}")
    return msgspec.json.decode(answer, type=_Heard).text


def _form(boundary: str, wav: bytes) -> bytes:
    fields = {"model": settings.TRANSCRIPTION_MODEL, "response_format": "json"}
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    file = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="clip.wav"\r\n'
        "Content-Type: audio/wav\r\n\r\n"
    )
    return "".join([*parts, file]).encode() + wav + f"\r\n--{boundary}--\r\n".encode()


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"
