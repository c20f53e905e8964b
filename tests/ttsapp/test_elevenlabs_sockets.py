"""ElevenLabs' multi-stream-input: many contexts on one socket."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterator

import pytest
from websockets.sync.client import ClientConnection

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.elevenlabs_socket import FORMAT, closed, hear, opened, received, send
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog

RACHEL = "21m00Tcm4TlvDq8ikWAM"


@pytest.fixture
def voice(base: str) -> str:
    return base.replace("http:", "ws:") + f"/v1/text-to-speech/{RACHEL}"


@pytest.fixture
def multi(voice: str, alice: Party) -> Iterator[ClientConnection]:
    with opened(f"{voice}/multi-stream-input?{FORMAT}", alice) as client:
        yield client


def test_it_works(multi: ClientConnection, alice: Party, engine: ScriptedEngine) -> None:
    send(multi, " ", context_id="a", voice_settings={"stability": 0.5})
    send(multi, "Hello ", context_id="a")
    send(multi, "there. ", contextId="a")
    send(multi, context_id="a", flush=True)
    send(multi, context_id="a", close_context=True)
    assert hear(multi, "a") == spoken(5)
    assert engine.heard[0].text.strip() == "Hello there."
    event = UsageEvent.objects.get()
    assert (event.tenant_id, event.billed_characters) == (alice.tenant.id, 13)
    assert RequestLog.objects.get().transport == "ws"


@pytest.mark.parametrize("prefix", ["", "/elevenlabs"])
def test_prefixes(base: str, alice: Party, prefix: str) -> None:
    path = f"{prefix}/v1/text-to-speech/Anna/multi-stream-input?{FORMAT}"
    with opened(base.replace("http:", "ws:") + path, alice) as socket:
        send(socket, "Hi.", flush=True)
        send(socket, close_context=True)
        assert hear(socket, "default") == spoken(5)


def test_a_keep_alive_without_context_is_inert(
    multi: ClientConnection, engine: ScriptedEngine
) -> None:
    send(multi, "")
    send(multi, close_socket=True)
    assert closed(multi) == 1000
    assert engine.heard == []


def test_final_after_close_context(multi: ClientConnection, engine: ScriptedEngine) -> None:
    """Of a context that said nothing, too, and of one that is not known."""
    send(multi, " ", context_id="a")
    send(multi, context_id="a", close_context=True)
    send(multi, context_id="b", close_context=True)
    for name in ("a", "b"):
        assert hear(multi, name) == b""
    assert engine.heard == []
    assert not UsageEvent.objects.exists()


def test_1000_after_close_socket(multi: ClientConnection) -> None:
    """What was said is spoken first."""
    send(multi, "Bye.", context_id="a")
    send(multi, close_socket=True)
    assert hear(multi, "a") == spoken(5)
    assert closed(multi) == 1000


def test_twenty_rapid_cycles(multi: ClientConnection, engine: ScriptedEngine) -> None:
    """All of them still speak when the last one is opened."""
    engine.script = Script(chunks=1, hold_after=0)
    names = [f"c{number}" for number in range(25)]
    for name in names:
        send(multi, "One.", context_id=name)
        send(multi, context_id=name, close_context=True)
    eventually(lambda: len(engine.heard) == len(names))
    engine.release.set()
    audio: dict[str, bytes] = defaultdict(bytes)
    ended: list[str] = []
    while len(ended) < len(names):
        message = received(multi)
        assert "error" not in message
        if message["isFinal"]:
            ended.append(message["contextId"])
        else:
            audio[message["contextId"]] += base64.b64decode(message["audio"])
    assert set(ended) == set(names)
    assert dict(audio) == dict.fromkeys(names, spoken(1))


def test_contexts_speak_side_by_side(multi: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(hold_after=2)
    for name in ("a", "b"):
        send(multi, f"I am {name}.", context_id=name, flush=True)
    heard = {received(multi)["contextId"] for _ in range(4)}
    assert heard == {"a", "b"}
    engine.release.set()


def test_a_name_is_used_again(multi: ClientConnection, engine: ScriptedEngine) -> None:
    """The second waits for the end of the first, so that their audio does not mix."""
    engine.next_scripts.append(Script(hold_after=1))
    send(multi, "One.")
    send(multi, close_context=True)
    engine.wait_for_stream().reached.wait(10)
    send(multi, "Two.")
    send(multi, close_context=True)
    engine.release.set()
    assert hear(multi, "default") == spoken(5)
    assert hear(multi, "default") == spoken(5)
    assert [heard.text for heard in engine.heard] == ["One.", "Two."]
    assert UsageEvent.objects.count() == 2


def test_flush_speaks_what_waits_for_its_end(
    multi: ClientConnection, engine: ScriptedEngine
) -> None:
    send(multi, "Well then ", context_id="a", flush=True)
    assert received(multi)["contextId"] == "a"
    assert engine.heard[0].text.strip() == "Well then"


def test_auto_mode_speaks_each_message(voice: str, alice: Party, engine: ScriptedEngine) -> None:
    with opened(f"{voice}/multi-stream-input?{FORMAT}&auto_mode=true", alice) as socket:
        send(socket, " ", context_id="a")
        send(socket, "Well then", context_id="a")
        assert received(socket)["contextId"] == "a"
    assert [heard.text.strip() for heard in engine.heard] == ["Well then"]


def test_the_query(voice: str, alice: Party, engine: ScriptedEngine) -> None:
    query = (
        f"{FORMAT}&model_id=eleven_flash_v2_5&language_code=de&seed=5&enable_logging=true"
        "&enable_ssml_parsing=false&sync_alignment=true&inactivity_timeout=180"
        "&apply_text_normalization=auto&optimize_streaming_latency=3"
    )
    with opened(f"{voice}/multi-stream-input?{query}", alice) as socket:
        send(socket, "Hallo.")
        send(socket, close_context=True)
        assert hear(socket, "default") == spoken(5)
    start = engine.heard[0].start
    assert (start.language, start.seed) == ("german", 5)


def test_text_is_normalised(voice: str, alice: Party, engine: ScriptedEngine) -> None:
    url = f"{voice}/multi-stream-input?{FORMAT}&apply_text_normalization=on"
    with opened(url, alice) as socket:
        send(socket, "It costs $5. ", flush=True)
        received(socket)
    assert engine.heard[0].text.strip() == "It costs five dollars."


def test_speed(multi: ClientConnection) -> None:
    send(multi, " ", voice_settings={"speed": 2.0})
    send(multi, "Hello there.")
    send(multi, close_context=True)
    assert 0.4 < len(hear(multi, "default")) / len(spoken(5)) < 0.6


def test_repeated_settings_are_fine(multi: ClientConnection) -> None:
    for text in (" ", "Hello."):
        send(multi, text, voice_settings={"stability": 0.5})
    send(multi, close_context=True)
    assert hear(multi, "default") == spoken(5)


def test_three_tenants(voice: str, alice: Party, bob: Party, mallory: Party) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        with opened(f"{voice}/multi-stream-input?{FORMAT}", party) as socket:
            send(socket, text, context_id="same")
            send(socket, context_id="same", close_context=True)
            assert hear(socket, "same") == spoken(5)
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()


def test_breaks_are_pauses(multi: ClientConnection, engine: ScriptedEngine) -> None:
    """Also one that has no words in its message: it stands before the next. Tags are free."""
    send(multi, 'Wait. <break time="0.5s" /> Go. ', context_id="a", flush=True)
    send(multi, '<break time="1s" /> ', context_id="a", flush=True)
    send(multi, "Now. ", context_id="a", flush=True)
    send(multi, context_id="a", close_context=True)
    heard = hear(multi, "a")
    assert heard == spoken(5) + bytes(24_000) + spoken(5) + bytes(48_000) + spoken(5)
    assert [stream.text.strip() for stream in engine.heard] == ["Wait.", "Go.", "Now."]
    assert UsageEvent.objects.get().billed_characters < 25
