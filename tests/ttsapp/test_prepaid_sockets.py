"""Text that is written while it is spoken, on prepaid credit: none is spoken beyond it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from websockets.sync.client import ClientConnection, connect

from billing.models import Reservation, UsageEvent
from tests.billing.selling import fresh_prices
from tests.ttsapp.cartesia_calls import body
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import spoken
from tests.ttsapp.test_prepaid import pay, prices, put_on_credit, use_up
from ttsapp.speech.models import RequestLog

__all__ = ["fresh_prices", "prices"]
pytestmark = pytest.mark.usefixtures("fresh_prices", "prices")

# Of fifty characters that are left.
SECOND = "this is more than there is left of all. "


@dataclass(frozen=True)
class Live:
    """A dialect's socket: what is sent first, how text is, and what says that credit is gone."""

    path: str
    opening: tuple[dict[str, object], ...]
    text: Callable[[str], list[dict[str, object]]]
    gone: str
    first: str = "Hello there. And "
    charged: int = 13


def cartesia(text: str) -> list[dict[str, object]]:
    fields = {"transcript": text, "context_id": "a", "continue": True}
    return [body(**fields)]


SOCKETS = {
    "openai": Live(
        "/v1/audio/speech/ws",
        ({"type": "start", "voice": "alloy", "response_format": "pcm"},),
        lambda text: [{"type": "text", "text": text}],
        "insufficient_quota",
    ),
    "openai word by word": Live(
        "/v1/audio/speech/ws",
        ({"type": "start", "voice": "alloy", "response_format": "pcm", "mode": "token"},),
        lambda text: [{"type": "text", "text": text}],
        "insufficient_quota",
        # Its stream has the refused text too, of which so much was spoken: 56 * 400 / (56 * 65).
        charged=6,
    ),
    "cartesia": Live("/tts/websocket", (), cartesia, "insufficient_quota"),
    "deepgram": Live(
        "/v1/speak?encoding=linear16&sample_rate=24000",
        (),
        lambda text: [{"type": "Speak", "text": text}],
        "INSUFFICIENT_QUOTA",
    ),
    "elevenlabs stream-input": Live(
        "/v1/text-to-speech/Anna/stream-input?output_format=pcm_24000&auto_mode=true",
        ({"text": " "},),
        lambda text: [{"text": text}],
        "quota_exceeded",
        "Hello there. ",
    ),
    "elevenlabs multi-stream-input": Live(
        "/v1/text-to-speech/Anna/multi-stream-input?output_format=pcm_24000&auto_mode=true",
        ({"text": " ", "context_id": "a"},),
        lambda text: [{"text": text, "context_id": "a"}],
        "quota_exceeded",
        "Hello there. ",
    ),
    "dashscope": Live(
        "/api-ws/v1/realtime?model=qwen3-tts-flash-realtime",
        (),
        lambda text: [{"type": "input_text_buffer.append", "text": text}],
        "insufficient_quota",
    ),
}


def send(socket: ClientConnection, *messages: dict[str, object]) -> None:
    for message in messages:
        socket.send(json.dumps(message))


def audio_of(message: str | bytes) -> bytes:
    if isinstance(message, bytes):
        return message
    told = json.loads(message)
    found = next((told[name] for name in ("data", "delta", "audio") if told.get(name)), "")
    return base64.b64decode(found)


def hear_first(socket: ClientConnection) -> None:
    """All that is to be heard of the first text."""
    heard = b""
    while len(heard) < len(spoken(5)):
        heard += audio_of(socket.recv(10))
    assert heard == spoken(5)


@pytest.fixture
def fifty_left(alice: Party) -> None:
    put_on_credit(alice)
    pay(alice)
    use_up(alice, 950)


def opened(base: str, live: Live, party: Party) -> ClientConnection:
    headers = {"Authorization": f"Bearer {party.secret}", "xi-api-key": party.secret}
    return connect(base.replace("http", "ws", 1) + live.path, additional_headers=headers)


# DashScope's begins another response where text pauses, which is looked at from its beginning.
@pytest.mark.parametrize("name", [name for name in SOCKETS if name != "dashscope"])
def test_text_beyond_the_credit_is_refused_and_not_spoken(
    base: str, alice: Party, fifty_left: None, name: str
) -> None:
    live = SOCKETS[name]
    with opened(base, live, alice) as socket:
        send(socket, *live.opening, *live.text(live.first))
        hear_first(socket)
        send(socket, *live.text(SECOND))
        messages = [socket.recv(10)]
        while live.gone not in str(messages[-1]):
            messages.append(socket.recv(10))
    assert b"".join(map(audio_of, messages[:-1])) == b""
    event = eventually(lambda: UsageEvent.objects.filter(key=alice.key).first())
    assert (event.outcome, event.billed_characters) == ("cancelled", live.charged)


@pytest.mark.parametrize("name", SOCKETS)
def test_a_burst_of_text_stays_within_the_credit(
    base: str, alice: Party, fifty_left: None, name: str
) -> None:
    live = SOCKETS[name]
    with opened(base, live, alice) as socket:
        send(socket, *live.opening)
        for _ in range(30):
            send(socket, *live.text("And more. "))
        while live.gone not in str(socket.recv(10)):
            continue
    eventually(lambda: not Reservation.objects.exists() and RequestLog.objects.exists())
    events = UsageEvent.objects.filter(key=alice.key)
    assert sum(event.billed_characters for event in events) <= 50
