"""One text spoken through HTTP, and everything that was promised about it checked."""

from __future__ import annotations

import http.client
import io
import time
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttsapp.launch import http as web
from ttsapp.launch.errors import LaunchError
from ttsapp.launch.product import Product

RATE = 24_000
# Seconds a speaker may take for a character (0.065 is usual), with room for one-word texts.
SHORTEST, LONGEST, SLACK = 0.02, 0.16, 1.5
SETTLE_SECONDS = 10.0
# The same text gives the same file every time.
SEED = 1


@dataclass(frozen=True, slots=True)
class Spoken:
    """What came over HTTP: whole 16-bit mono samples at 24 kHz, and when the first of them came."""

    pcm: bytes
    first_audio: float
    total: float
    request: str

    @property
    def seconds(self) -> float:
        return len(self.pcm) / 2 / RATE


def demo(product: Product, text: str, voice: str, out: Path) -> list[tuple[str, str]]:
    """Labelled facts to print. Raises LaunchError for the first promise that is broken."""
    spoken = speak(product, text, voice)
    save(spoken, out)
    check_length(text, spoken.seconds)
    row = settled(product, spoken.request)
    check_ledger(text, spoken, row)
    return [
        ("file", f"{out} ({out.stat().st_size:,} bytes)"),
        ("first audio", f"{1000 * spoken.first_audio:.0f} ms"),
        ("duration", f"{spoken.seconds:.2f} s, made in {spoken.total:.2f} s"),
        ("characters", f"{len(text)} sent, {row['billed_characters']} metered"),
        ("request", f"{spoken.request}, {row['finish_reason']}, voice {row['voice']}"),
    ]


def speak(product: Product, text: str, voice: str) -> Spoken:
    """One streamed request. Raises LaunchError where the answer is not whole audio."""
    body = {"model": "tts-1", "voice": voice, "input": text, "response_format": "pcm", "seed": SEED}
    sent = time.perf_counter()
    try:
        with web.posted(f"{product.plan.url}/v1/audio/speech", body, authorized(product)) as answer:
            if answer.status != 200:
                raise LaunchError(f"HTTP {answer.status}: {answer.read().decode()}")
            pcm = answer.read1(65536)
            first = time.perf_counter() - sent
            pcm += answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise LaunchError(f"The answer broke off: {error!r}") from None
    total = time.perf_counter() - sent
    if len(pcm) % 2 or not any(pcm):
        raise LaunchError(f"{len(pcm)} bytes came, and they are not speech.")
    return Spoken(pcm, first, total, answer.headers["x-request-id"])


def save(spoken: Spoken, out: Path) -> None:
    """A WAV file, read back to prove it. Raises LaunchError."""
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(spoken.pcm)
    try:
        out.write_bytes(content.getvalue())
        with wave.open(str(out), "rb") as file:
            same = file.readframes(file.getnframes()) == spoken.pcm
    except (OSError, wave.Error) as error:
        raise LaunchError(f"Cannot write {out}: {error}") from None
    if not same:
        raise LaunchError(f"{out} does not hold what was received.")


def check_length(text: str, seconds: float) -> None:
    """Raises LaunchError for speech that is too short or too long for its text."""
    low, high = SHORTEST * len(text), LONGEST * len(text) + SLACK
    if not low <= seconds <= high:
        wanted = f"{low:.1f} to {high:.1f} s"
        raise LaunchError(
            f"{seconds:.2f} s of audio for {len(text)} characters: {wanted} expected."
        )


def settled(product: Product, request: str) -> dict[str, Any]:
    """How the ledger has this request, once it is settled. Raises LaunchError if it never is."""
    url = f"{product.plan.url}/v1/audio/speech/requests/{request}"
    limit = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < limit:
        row = web.get_json(url, authorized(product))
        if row.get("state") == "ended":
            return row
        product.wait(0.05)
    raise LaunchError(f"Request {request} was not settled within {SETTLE_SECONDS:.0f} s.")


def check_ledger(text: str, spoken: Spoken, row: dict[str, Any]) -> None:
    """Raises LaunchError where the ledger says anything else than what was sent and heard."""
    expected = {
        "billed_characters": len(text),
        "audio_ms": len(spoken.pcm) // 2 * 1000 // RATE,
        "finish_reason": "stop",
    }
    wrong = [
        f"{name} is {row[name]}, not {value}"
        for name, value in expected.items()
        if row[name] != value
    ]
    if wrong:
        raise LaunchError(f"Request {spoken.request}: {'; '.join(wrong)}.")


def authorized(product: Product) -> dict[str, str]:
    return {"Authorization": f"Bearer {product.access.key}"}
