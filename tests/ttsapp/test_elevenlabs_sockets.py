"""ElevenLabs' dialect as sockets: one text, and many contexts."""

from __future__ import annotations

import base64
import json
import time
from collections import defaultdict
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.elevenlabs import sockets
from ttsapp.keys import single_use
from ttsapp.keys.services import revoke_key
from ttsapp.speech.models import RequestLog

RACHEL = "21m00Tcm4TlvDq8ikWAM"
FORMAT = "output_format=pcm_24000"


@pytest.fixture
def voice(base: str) -> str:
    return base.replace("http:", "ws:") + f"/v1/text-to-speech/{RACHEL}"


def opened(url: str, party: Party) -> ClientConnection:
    return connect(url, additional_headers={"xi-api-key": party.secret})


@pytest.fixture
def multi(voice: str, alice: Party) -> Iterator[ClientConnection]:
    with opened(f"{voice}/multi-stream-input?{FORMAT}", alice) as client:
        yield client


@pytest.fixture
def single(voice: str, alice: Party) -> Iterator[ClientConnection]:
    with opened(f"{voice}/stream-input?{FORMAT}", alice) as client:
        yield client


def send(socket: ClientConnection, text: str | None = None, **fields: object) -> None:
    message = fields if text is None else {"text": text, **fields}
    socket.send(json.dumps(message))


def received(socket: ClientConnection) -> dict:
    return json.loads(socket.recv(10))


def hear(socket: ClientConnection, name: str | None = None) -> bytes:
    """All audio of one context, up to its last message."""
    audio = b""
    while True:
        message = received(socket)
        assert "error" not in message, message
        assert message.get("contextId") == name
        if message["isFinal"]:
            assert message["audio"] is None
            return audio
        assert {"alignment", "normalizedAlignment"} <= set(message)
        audio += base64.b64decode(message["audio"])


def closed(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        socket.recv(10)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def failed(socket: ClientConnection, error: str, code: int = 1008) -> dict:
    message = received(socket)
    assert (message["error"], message["code"]) == (error, code)
    assert message["message"]
    return message


# ---- many contexts


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
    engine.script = Script(chunks=1)
    names = [f"c{number}" for number in range(25)]
    for name in names:
        send(multi, "One.", context_id=name)
        send(multi, context_id=name, close_context=True)
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


def test_too_many_open_contexts(multi: ClientConnection) -> None:
    for number in range(20):
        send(multi, " ", context_id=f"c{number}")
    send(multi, " ", context_id="one more")
    assert failed(multi, "max_active_conversations")["contextId"] == "one more"
    assert received(multi) == {"audio": None, "isFinal": True, "contextId": "one more"}
    send(multi, "Still here.", context_id="c0")
    send(multi, context_id="c0", close_context=True)
    assert hear(multi, "c0") == spoken(5)


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


def test_settings_cannot_change(multi: ClientConnection) -> None:
    send(multi, " ", voice_settings={"stability": 0.5})
    send(multi, "Hello.", voice_settings={"stability": 0.9})
    failed(multi, "invalid_value")
    assert closed(multi) == 1008


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("{", "invalid_json"),
        ("[]", "invalid_json"),
        ('{"text": 5}', "invalid_type"),
        ('{"texts": "x"}', "unknown_field"),
        ('{"text": "x", "voice_settings": {"speed": 9}}', "invalid_value"),
        ('{"text": "x", "generation_config": {"chunk_length_schedule": [0]}}', "invalid_value"),
    ],
)
def test_bad_messages_end_the_socket(
    multi: ClientConnection, engine: ScriptedEngine, message: str, error: str
) -> None:
    multi.send(message)
    failed(multi, error)
    assert closed(multi) == 1008
    assert engine.heard == []


def test_too_long_a_text_harms_no_other_context(
    multi: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script = Script(hold_after=1)
    send(multi, "Hello.", context_id="a", flush=True)
    assert received(multi)["contextId"] == "a"
    send(multi, "x" * 5000, context_id="b")
    assert failed(multi, "max_character_limit_exceeded")["contextId"] == "b"
    assert hear(multi, "b") == b""
    engine.release.set()
    send(multi, context_id="a", close_context=True)
    assert hear(multi, "a") == spoken(5)[len(spoken(1)) :]
    eventually(lambda: RequestLog.objects.filter(error_code="string_above_max_length").exists())


def test_a_broken_engine_ends_its_context(multi: ClientConnection, engine: ScriptedEngine) -> None:
    error = pb.Error(code="internal", message="no")
    engine.next_scripts.append(Script(error=error, error_after=0))
    send(multi, "Hello.", context_id="a")
    send(multi, context_id="a", close_context=True)
    assert failed(multi, "internal", 1011)["contextId"] == "a"
    assert received(multi)["isFinal"] is True
    send(multi, "Again.", context_id="a")
    send(multi, context_id="a", close_context=True)
    assert hear(multi, "a") == spoken(5)


def test_inactivity(voice: str, alice: Party) -> None:
    with opened(f"{voice}/multi-stream-input?{FORMAT}&inactivity_timeout=1", alice) as socket:
        send(socket, " ", context_id="a")
        assert failed(socket, "input_timeout_exceeded")["contextId"] == "a"
        assert received(socket)["isFinal"] is True
        assert closed(socket) == 1000


def test_three_tenants(voice: str, alice: Party, bob: Party, mallory: Party) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        with opened(f"{voice}/multi-stream-input?{FORMAT}", party) as socket:
            send(socket, text, context_id="same")
            send(socket, context_id="same", close_context=True)
            assert hear(socket, "same") == spoken(5)
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()


# ---- one text


def test_stream_input(single: ClientConnection, alice: Party, engine: ScriptedEngine) -> None:
    send(
        single,
        " ",
        try_trigger_generation=True,
        voice_settings=None,
        generation_config={"chunk_length_schedule": [50]},
    )
    send(single, "Hello ", try_trigger_generation=True)
    send(single, "there. ")
    send(single, "")
    assert hear(single) == spoken(5)
    assert closed(single) == 1000
    assert engine.heard[0].text.strip() == "Hello there."
    assert UsageEvent.objects.get().tenant_id == alice.tenant.id


def test_stream_input_of_nothing(single: ClientConnection, engine: ScriptedEngine) -> None:
    send(single, " ")
    send(single, "")
    assert hear(single) == b""
    assert closed(single) == 1000
    assert engine.heard == []


def test_stream_input_that_is_ended_at_once(single: ClientConnection) -> None:
    send(single, "")
    assert hear(single) == b""
    assert closed(single) == 1000


def test_stream_input_error_has_a_message(single: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"))
    send(single, "Hello.", flush=True)
    failed(single, "internal", 1011)
    assert closed(single) == 1011


def test_stream_input_text_too_long(single: ClientConnection) -> None:
    send(single, "x" * 5000)
    failed(single, "max_character_limit_exceeded")
    assert closed(single) == 1008


# ---- keys


@pytest.mark.parametrize("field", ["xi_api_key", "xi-api-key", "authorization"])
def test_the_key_in_the_first_message(voice: str, alice: Party, field: str) -> None:
    with connect(f"{voice}/multi-stream-input?{FORMAT}") as socket:
        send(socket, " ", **{field: alice.secret})
        send(socket, "Hello.")
        send(socket, close_context=True)
        assert hear(socket, "default") == spoken(5)
    assert UsageEvent.objects.get().tenant_id == alice.tenant.id


@pytest.mark.parametrize("call", ["multi-stream-input", "stream-input"])
@pytest.mark.parametrize("fields", [{}, {"xi_api_key": "nonsense"}])
def test_no_key_in_the_first_message(
    voice: str, engine: ScriptedEngine, call: str, fields: dict
) -> None:
    with connect(f"{voice}/{call}") as socket:
        send(socket, "Hello.", **fields)
        failed(socket, "invalid_api_key")
        assert closed(socket) == 1008
    assert engine.heard == []


def test_no_first_message(voice: str, alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "LATE_KEY_SECONDS", 0.1)
    with connect(f"{voice}/multi-stream-input") as socket:
        failed(socket, "invalid_api_key")
        assert closed(socket) == 1008


def test_a_wrong_key_is_refused_in_the_handshake(voice: str) -> None:
    headers = {"xi-api-key": "nonsense"}
    with (
        pytest.raises(InvalidStatus) as refusal,
        connect(f"{voice}/stream-input", additional_headers=headers),
    ):
        pass
    assert refusal.value.response.status_code == 401
    assert json.loads(refusal.value.response.body)["detail"]["status"] == "invalid_api_key"


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("model_id=aura", "model_id"),
        ("output_format=mp4", "output_format"),
        ("enable_ssml_parsing=true", "enable_ssml_parsing"),
        ("inactivity_timeout=200", "inactivity_timeout"),
        ("auto_mode=maybe", "auto_mode"),
        ("voice=x", "voice"),
        ("seed=-1", "seed"),
    ],
)
def test_a_bad_query(voice: str, alice: Party, query: str, param: str) -> None:
    with (
        pytest.raises(InvalidStatus) as refusal,
        opened(f"{voice}/multi-stream-input?{query}", alice),
    ):
        pass
    assert json.loads(refusal.value.response.body)["detail"]["param"] == param


def test_a_revoked_key(multi: ClientConnection, alice: Party) -> None:
    """No context begins with it, a second later at most."""
    revoke_key(SYSTEM, alice.key)
    last: dict = {}

    def is_refused() -> bool:
        send(multi, "Hello.")
        send(multi, close_context=True)
        while not (last.get("isFinal") or "error" in last):
            last.update(received(multi))
        is_over = "error" in last
        return is_over or bool(last.clear())

    eventually(is_refused)
    assert last["error"] == "invalid_api_key"
    assert closed(multi) == 1008


def test_a_key_that_is_revoked_while_text_waits(
    multi: ClientConnection, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(hold_after=1)
    send(multi, "One.")
    send(multi, close_context=True)
    engine.wait_for_stream().reached.wait(10)
    send(multi, "Two.")
    # A message that is answered: the ones before it have arrived.
    send(multi, context_id="b", close_context=True)
    while received(multi)["contextId"] != "b":
        pass
    revoke_key(SYSTEM, alice.key)
    time.sleep(1.1)
    engine.release.set()
    assert hear(multi, "default") == spoken(5)[len(spoken(1)) :]
    failed(multi, "invalid_api_key")
    assert closed(multi) == 1008
    assert len(engine.heard) == 1


def test_a_single_use_token_opens_one_socket(voice: str, alice: Party) -> None:
    token = single_use.mint(alice.key.public_id)
    url = f"{voice}/multi-stream-input?{FORMAT}&single_use_token={token}"
    with connect(url) as socket:
        for _ in range(2):
            send(socket, "Hello.")
            send(socket, close_context=True)
            assert hear(socket, "default") == spoken(5)
    assert {event.key_id for event in UsageEvent.objects.all()} == {alice.key.id}
    with pytest.raises(InvalidStatus) as refusal, connect(url):
        pass
    assert refusal.value.response.status_code == 401
    assert "used before" in json.loads(refusal.value.response.body)["detail"]["message"]


@pytest.mark.parametrize("fault", ["expired", "forged", "revoked"])
def test_a_bad_single_use_token(
    voice: str, alice: Party, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "expired":
        monkeypatch.setattr(single_use, "SECONDS", -1)
    token = single_use.mint(alice.key.public_id)
    if fault == "forged":
        token = token[:-3] + "AAA"
    if fault == "revoked":
        revoke_key(SYSTEM, alice.key)
    url = f"{voice}/stream-input?single_use_token={token}"
    with pytest.raises(InvalidStatus) as refusal, connect(url):
        pass
    assert refusal.value.response.status_code == 401
