"""Bad input on sockets, in every dialect: told in its own shape, the field named, and what else is
spoken unharmed."""

from __future__ import annotations

import contextlib
import json

import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from tests.ttsapp.speech_sockets import WIRES, Message, Wire
from ttsapp.dialects.cartesia.sockets import ContextsSocket

every_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)


def refused(wire: Wire, told: Message, code: str, field: str = "") -> None:
    said, named = wire.refusal(told)
    assert said.lower() == code
    assert field in (named or "")


def closed(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        while True:
            socket.recv(10)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def speaks(wire: Wire, base: str, party: Party) -> bool:
    with wire.opened(base, party) as socket:
        wire.say(socket, "Hello there.")
        return wire.hear(socket)[0] == spoken(5)


@every_wire
def test_it_works(base: str, alice: Party, wire: Wire) -> None:
    assert speaks(wire, base, alice)


@every_wire
def test_a_message_of_two_megabytes(
    base: str, alice: Party, engine: ScriptedEngine, wire: Wire
) -> None:
    with wire.opened(base, alice) as socket:
        with contextlib.suppress(ConnectionClosed):
            socket.send(json.dumps(wire.more("a" * 2_000_000)))
        assert closed(socket) == 1009
    assert engine.heard == []
    assert speaks(wire, base, alice)


@every_wire
@pytest.mark.parametrize("message", ["{", "[]", '"text"'])
def test_no_message(base: str, alice: Party, wire: Wire, message: str) -> None:
    with wire.opened(base, alice) as socket:
        socket.send(message)
        code = wire.refusal(json.loads(socket.recv(10)))[0].lower()
        assert code in ("invalid_json", "invalid_type")
        if wire.is_closed_by_error:
            assert closed(socket) == 1008
        else:
            wire.say(socket, "Hello there.")
            assert wire.hear(socket)[0] == spoken(5)


@every_wire
def test_text_of_the_wrong_type(
    base: str, alice: Party, engine: ScriptedEngine, wire: Wire
) -> None:
    with wire.opened(base, alice) as socket:
        *before, message = wire.text("Hello.")[: 1 + (wire is WIRES["openai"])]
        for each in before:
            socket.send(json.dumps(each))
        field = "transcript" if "transcript" in message else "text"
        socket.send(json.dumps({**message, field: 7}))
        while "accepted" in (told := json.loads(socket.recv(10))).values():
            pass
        refused(wire, told, "invalid_type", field)
    assert engine.heard == []
    assert speaks(wire, base, alice)


@every_wire
@pytest.mark.parametrize("text", [" ", "😀 👍🏽", "…?!"])
def test_nothing_to_say(
    base: str, alice: Party, engine: ScriptedEngine, wire: Wire, text: str
) -> None:
    """Told as an error, or as the end of nothing, as its clients expect."""
    with wire.opened(base, alice) as socket:
        wire.say(socket, text)
        told = json.loads(socket.recv(10))
        while told.get("type") == "accepted":
            told = json.loads(socket.recv(10))
        if not wire.is_end(told):
            refused(wire, told, "empty_input", "text")
    assert engine.heard == []
    assert not UsageEvent.objects.exists()
    assert speaks(wire, base, alice)


@every_wire
def test_text_after_the_end(base: str, alice: Party, engine: ScriptedEngine, wire: Wire) -> None:
    engine.script = Script(hold_after=1)
    with wire.opened(base, alice) as socket:
        wire.say(socket, "Hello there.")
        for message in wire.ends:
            socket.send(json.dumps(message))
        assert engine.wait_for_stream().reached.wait(10)
        socket.send(json.dumps(wire.more("And more.")))
        before, told = wire.hear(socket, lambda one: "out_of_order" in json.dumps(one).lower())
        refused(wire, told[-1], "out_of_order")
        engine.release.set()
        assert before + wire.hear(socket)[0] == spoken(5)
    assert [heard.text.strip() for heard in engine.heard] == ["Hello there."]


@every_wire
def test_a_silent_socket(
    base: str, alice: Party, engine: ScriptedEngine, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SOCKET_IDLE_SECONDS", 0.2)
    monkeypatch.setattr(ContextsSocket, "idle_seconds", 0.2)
    monkeypatch.setattr("ttsapp.dialects.elevenlabs.socket_request._USUAL_TIMEOUT", 0.2)
    with wire.opened(base, alice) as socket:
        assert closed(socket) == 1000
    assert engine.heard == []


@every_wire
def test_a_client_that_leaves_frees_the_engine(
    base: str, alice: Party, engine: ScriptedEngine, wire: Wire
) -> None:
    engine.script = Script(hold_after=2)
    with wire.opened(base, alice) as socket:
        wire.say(socket, "A story that nobody hears to its end.")
        assert engine.wait_for_stream().reached.wait(10)
    assert engine.heard[0].ended.wait(10)
    event = eventually(UsageEvent.objects.first)
    assert (event.tenant_id, event.outcome) == (alice.tenant.id, "cancelled")
    assert event.billed_characters < event.characters
    assert not Reservation.objects.exists()
    engine.script = Script()
    assert speaks(wire, base, alice)
