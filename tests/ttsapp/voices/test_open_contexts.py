"""What is being spoken may end when a consent does: no text that comes later, and no part that has
not begun, is spoken in its voice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, ends_within_a_second
from tests.ttsapp.contexts import texts
from tests.ttsapp.live_socket.client import PATH, hear, send, start
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from tests.ttsapp.voices.conftest import made
from ttsapp import database
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.speech.context import Context
from ttsapp.speech.events import Audio, Failed
from ttsapp.speech.order import Order
from ttsapp.speech.permission import Permission
from ttsapp.voices.models import Consent, Share, Voice
from ttsapp.voices.services import consents, registry, sharing, shelves


def withdraw() -> None:
    consents.withdraw_consent(SYSTEM, Consent.objects.get())


def expire() -> None:
    row = Consent.objects.get()
    Consent.objects.update(expires_at=row.created_at)
    shelves.note_changes(Voice.objects.all())


def delete() -> None:
    registry.delete_voice(SYSTEM, Voice.objects.get())


ENDS = [
    (withdraw, "consent_withdrawn", "withdrawn"),
    (expire, "consent_expired", "expired"),
    (delete, "unknown_voice", "was deleted"),
]


def is_spoken(socket: ClientConnection, told: list[dict]) -> bool:
    """Whether one more sentence is; what is told instead."""
    send(socket, type="text", text="And one more sentence. ")
    send(socket, type="flush", flush_id="next")
    audio, message = hear(socket)
    if message["type"] == "error" and message["error"]["code"] == "out_of_order":
        # The flush came behind the end that its text had brought about.
        _, message = hear(socket)
    told.append(message)
    return bool(audio)


@pytest.mark.parametrize("mode", ["sentence", "token"])
@pytest.mark.parametrize(("end", "code", "why"), ENDS, ids=["withdrawn", "expired", "deleted"])
def test_text_that_comes_later(
    http: httpx.Client,
    base: str,
    cloning: ScriptedEngine,
    alice: Party,
    mode: str,
    end: Callable[[], None],
    code: str,
    why: str,
) -> None:
    voice, told = made(http, alice), []
    url = base.replace("http:", "ws:") + PATH
    with connect(url, additional_headers=alice.headers) as socket:
        start(socket, voice=voice, mode=mode)
        assert is_spoken(socket, told)
        end()
        ends_within_a_second(lambda: is_spoken(socket, told))
    error = told[-1]["error"]
    assert (error["code"], error["param"]) == (code, "voice")
    assert why in error["message"]
    assert UsageEvent.objects.get().outcome == "cancelled"


def test_whom_a_voice_is_shared_with_no_more(
    http: httpx.Client, base: str, cloning: ScriptedEngine, alice: Party, bob: Party
) -> None:
    voice, told = made(http, alice), []
    share = Share.objects.create(voice=Voice.objects.get(), tenant=bob.tenant)
    shelves.note_change(share.voice)
    url = base.replace("http:", "ws:") + PATH
    with connect(url, additional_headers=bob.headers) as socket:
        start(socket, voice=voice)
        assert is_spoken(socket, told)
        sharing.end_share(SYSTEM, alice.tenant, share)
        ends_within_a_second(lambda: is_spoken(socket, told))
    assert told[-1]["error"]["code"] == "unknown_voice"


def test_another_voice_goes_on(
    http: httpx.Client, base: str, cloning: ScriptedEngine, alice: Party
) -> None:
    made(http, alice)
    other, told = made(http, alice, name="Bea"), []
    url = base.replace("http:", "ws:") + PATH
    with connect(url, additional_headers=alice.headers) as socket:
        start(socket, voice=other)
        assert is_spoken(socket, told)
        registry.delete_voice(SYSTEM, Voice.objects.get(name="Ann"))
        assert is_spoken(socket, told)
        send(socket, type="end")
        assert hear(socket)[1]["type"] == "finished"


REFUSAL = ApiError(403, "consent_withdrawn", "It was withdrawn.", field="voice")
LONG = "This is the first of two sentences, and it is so long that it takes some seconds to say. "


async def test_a_part_that_has_not_begun(order: Order, engine: ScriptedEngine) -> None:
    """Given the first part is being spoken, when the consent ends, then that ends by itself."""
    engine.script.hold_after = 1
    context, heard = Context(order), b""
    context.append(LONG)
    context.append(LONG)
    context.flush()
    async with aclosing(context.events()) as events:
        async for event in events:
            if isinstance(event, Audio):
                heard += event.pcm
                context._permission.refusal = REFUSAL
                engine.release.set()
    assert (heard, texts(engine)) == (spoken(5), [LONG])
    assert isinstance(event, Failed)
    assert event.error.code == "consent_withdrawn"


async def test_nobody_is_refused_for_a_database_that_is_away(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise database.unavailable()

    monkeypatch.setattr(Order, "check_voice", away)
    permission = Permission(order)
    await permission.look(order.caller)
    assert permission.refusal is None
