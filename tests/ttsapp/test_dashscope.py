"""DashScope's dialect: the realtime socket."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator

import pytest
import soundfile
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.dashscope import session, sockets
from ttsapp.errors import ApiError
from ttsapp.keys.services import create_key, revoke_key
from ttsapp.speech.models import RequestLog

OPENING = ["response.created", "response.output_item.added", "response.content_part.added"]
CLOSING = [
    *("response.audio.done", "response.content_part.done", "response.output_item.done"),
    "response.done",
]
PLACE = {"output_index": 0, "content_index": 0}


@pytest.fixture
def url(base: str) -> str:
    return base.replace("http:", "ws:") + "/api-ws/v1/realtime"


@pytest.fixture
def socket(url: str, alice: Party) -> Iterator[ClientConnection]:
    address = f"{url}?model=qwen3-tts-flash-realtime"
    with connect(address, additional_headers=alice.headers) as client:
        assert received(client)["type"] == "session.created"
        yield client


def send(socket: ClientConnection, kind: str, **fields: object) -> None:
    socket.send(json.dumps({"event_id": "event_mine", "type": kind, **fields}))


def update(socket: ClientConnection, **fields: object) -> dict:
    send(socket, "session.update", session=fields)
    return received(socket)


def append(socket: ClientConnection, text: str) -> None:
    send(socket, "input_text_buffer.append", text=text)


def commit(socket: ClientConnection, text: str) -> None:
    append(socket, text)
    send(socket, "input_text_buffer.commit")


def received(socket: ClientConnection) -> dict:
    message = socket.recv(10)
    assert isinstance(message, str), "its clients take no binary message"
    return json.loads(message)


def until(socket: ClientConnection, *kinds: str) -> list[dict]:
    """Everything up to an event of one of these kinds."""
    heard = [received(socket)]
    while heard[-1]["type"] not in kinds:
        heard.append(received(socket))
    return heard


def kinds(events: list[dict]) -> list[str]:
    """A row of deltas counts as one."""
    found: list[str] = []
    for event in events:
        if not (event["type"] == "response.audio.delta" and found[-1:] == [event["type"]]):
            found.append(event["type"])
    return found


def audio(events: list[dict]) -> bytes:
    deltas = [event["delta"] for event in events if event["type"] == "response.audio.delta"]
    return b"".join(base64.b64decode(delta) for delta in deltas)


def closed(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        socket.recv(10)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def test_session_created_is_sent_unasked_with_the_model_of_the_query(
    url: str, alice: Party
) -> None:
    address = f"{url}?model=qwen-tts-realtime"
    with connect(address, additional_headers=alice.headers) as client:
        created = received(client)
    session = created["session"]
    assert created["event_id"].startswith("event_")
    assert session.pop("id").startswith("sess_")
    assert (created["type"], session) == (
        "session.created",
        {
            "object": "realtime.session",
            "mode": "server_commit",
            "model": "qwen-tts-realtime",
            "voice": "Cherry",
            "response_format": "pcm",
            "sample_rate": 24000,
        },
    )


def test_the_order_of_events_and_their_ids(socket: ClientConnection, alice: Party) -> None:
    update(socket, voice="Cherry", mode="commit")
    commit(socket, "Hello there.")
    send(socket, "session.finish")
    events = until(socket, "session.finished")
    begun, *response, _ = events
    assert kinds(events) == [
        "input_text_buffer.committed",
        *OPENING,
        "response.audio.delta",
        *CLOSING,
        "session.finished",
    ]
    assert closed(socket) == 1000
    assert audio(events) == spoken(5)
    made = response[0]["response"]
    named = {"response_id": made["id"], "item_id": begun["item_id"], **PLACE}
    for event in response:
        if event["type"] in ("response.audio.delta", "response.audio.done"):
            assert event | named == event
    assert (made["status"], made["output"], made["voice"]) == ("in_progress", [], "Anna")
    assert response[1]["item"]["role"] == "assistant"
    done = response[-1]["response"]
    assert (done["id"], done["status"], done["usage"]) == (
        made["id"],
        "completed",
        {"characters": 12},
    )
    assert len({event["event_id"] for event in events}) == len(events)
    usage = UsageEvent.objects.get()
    assert made["id"] == f"resp_{usage.id.hex}"
    assert (usage.tenant_id, usage.billed_characters) == (alice.tenant.id, 12)
    assert RequestLog.objects.get().transport == "ws"


def test_unknown_fields_are_ignored(socket: ClientConnection, engine: ScriptedEngine) -> None:
    answer = update(
        socket,
        voice="Ethan",
        volume=50,
        pitch_rate=1.2,
        optimize_instructions=True,
        something_new=None,
        language_type="German",
    )
    assert answer["type"] == "session.updated"
    assert (answer["session"]["voice"], answer["session"]["language_type"]) == ("Ethan", "German")
    commit(socket, "Guten Tag.")
    until(socket, "response.done")
    start = engine.heard[0].start
    assert (start.voice.preset, start.language) == ("Ben", "german")


def test_server_commit_speaks_whole_sentences(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    for piece in ("First sen", "tence. Sec", "ond sentence."):
        append(socket, piece)
    engine.wait_for_stream()
    send(socket, "session.finish")
    events = until(socket, "session.finished")
    assert kinds(events).count("response.done") == 1
    assert [heard.text.strip() for heard in engine.heard] == ["First sentence.", "Second sentence."]
    assert audio(events) == spoken(5) * 2
    assert UsageEvent.objects.get().billed_characters == 32


def test_server_commit_speaks_what_rests(
    monkeypatch: pytest.MonkeyPatch, url: str, alice: Party
) -> None:
    monkeypatch.setattr(sockets, "REST_SECONDS", 0.1)
    with connect(url, additional_headers=alice.headers) as client:
        received(client)
        append(client, "Hello there")
        assert audio(until(client, "response.done")) == spoken(5)


def test_server_commit_takes_a_commit(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=2)
    append(socket, "One. Two")
    events = until(socket, "response.audio.delta")
    send(socket, "input_text_buffer.commit")
    events += until(socket, "input_text_buffer.committed")
    engine.release.set()
    events += until(socket, "response.done")
    items = {event["item_id"] for event in events if "item_id" in event}
    assert len(items) == 1
    assert audio(events) == spoken(5) * 2


def test_commit_waits_for_its_commit(socket: ClientConnection, engine: ScriptedEngine) -> None:
    update(socket, mode="commit")
    append(socket, "One. Two. ")
    send(socket, "input_text_buffer.clear")
    assert received(socket)["type"] == "input_text_buffer.cleared"
    assert engine.heard == []
    commit(socket, "Three.")
    until(socket, "response.done")
    assert [heard.text for heard in engine.heard] == ["Three."]


def test_commits_are_spoken_one_after_the_other(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    update(socket, mode="commit")
    engine.script = Script(chunks=5, hold_after=2)
    for text in ("One.", "Two."):
        commit(socket, text)
    first = until(socket, "response.audio.delta")
    engine.release.set()
    first += until(socket, "response.done")
    second = until(socket, "response.done")
    assert len({event["response_id"] for event in first if "response_id" in event}) == 1
    assert kinds(second) == [*OPENING, "response.audio.delta", *CLOSING]
    assert audio(second) == spoken(5)
    assert UsageEvent.objects.count() == 2


def test_clear_of_a_started_sentence(socket: ClientConnection, engine: ScriptedEngine) -> None:
    append(socket, "One. Never mi")
    engine.wait_for_stream()
    send(socket, "input_text_buffer.clear")
    send(socket, "session.finish")
    until(socket, "session.finished")
    assert [heard.text.strip() for heard in engine.heard] == ["One."]


def test_cancel(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=1)
    append(socket, "A long story. Which nobody hears")
    until(socket, "response.audio.delta")
    send(socket, "response.cancel")
    events = until(socket, "response.done")
    assert kinds(events) == CLOSING
    assert events[-1]["response"]["status"] == "cancelled"
    assert engine.heard[0].ended.wait(10)
    engine.script = Script()
    commit(socket, "Next.")
    assert audio(until(socket, "response.done")) == spoken(5)
    assert [heard.text.strip() for heard in engine.heard] == ["A long story.", "Next."]


def test_cancel_of_nothing(socket: ClientConnection) -> None:
    send(socket, "response.cancel")
    send(socket, "session.finish")
    assert received(socket)["type"] == "session.finished"
    assert closed(socket) == 1000


@pytest.mark.parametrize(
    ("fields", "starts"),
    [
        ({"response_format": "wav"}, b"RIFF"),
        ({"response_format": "mp3", "bit_rate": 64}, b"\xff"),
        ({"response_format": "opus", "bit_rate": 510}, b"OggS"),
    ],
)
def test_formats(socket: ClientConnection, fields: dict, starts: bytes) -> None:
    assert update(socket, **fields)["session"]["response_format"] == fields["response_format"]
    commit(socket, "Hello there.")
    assert audio(until(socket, "response.done")).startswith(starts)


def test_sample_rate_and_speech_rate(socket: ClientConnection) -> None:
    update(socket, response_format="wav", sample_rate=8000, speech_rate=2, bit_rate=128)
    commit(socket, "Hello there.")
    heard, rate = soundfile.read(io.BytesIO(audio(until(socket, "response.done"))))
    assert rate == 8000
    assert abs(len(heard) - 1600) < 160


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"voice": "Nobody"}, "session.voice"),
        ({"voice": 5}, "session.voice"),
        ({"mode": "sometimes"}, "mode"),
        ({"response_format": "flac"}, "response_format"),
        ({"sample_rate": 12345}, "session.sample_rate"),
        ({"response_format": "mp3", "bit_rate": 7}, "session.bit_rate"),
        ({"speech_rate": 9}, "session.speech_rate"),
        ({"language_type": "Klingon"}, "session.language_type"),
    ],
)
def test_a_bad_session(socket: ClientConnection, fields: dict, param: str) -> None:
    answer = update(socket, **fields)
    assert (answer["type"], answer["error"]["param"]) == ("error", param)
    assert answer["error"]["type"] == "invalid_request_error"
    commit(socket, "Fine.")
    assert audio(until(socket, "response.done")) == spoken(5)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "invalid_json"),
        ('{"type": "response.sing"}', "invalid_value"),
        ('{"type": "input_text_buffer.append", "text": 5}', "invalid_type"),
        ('{"type": "input_text_buffer.append"}', "missing_field"),
        ('{"type": "input_text_buffer.commit"}', "empty_input"),
        ('{"type": "session.update", "session": []}', "invalid_type"),
        (
            json.dumps({"type": "input_text_buffer.append", "text": "x" * 5000}),
            "string_above_max_length",
        ),
    ],
)
def test_a_bad_message(socket: ClientConnection, message: str, code: str) -> None:
    socket.send(message)
    answer = received(socket)
    assert (answer["type"], answer["error"]["code"]) == ("error", code)
    commit(socket, "Fine.")
    assert audio(until(socket, "response.done")) == spoken(5)


def test_an_error_names_the_clients_event(socket: ClientConnection) -> None:
    send(socket, "response.sing")
    assert received(socket)["error"]["event_id"] == "event_mine"


def test_a_session_with_text_is_not_changed(socket: ClientConnection) -> None:
    update(socket, mode="commit")
    append(socket, "Hello.")
    answer = update(socket, voice="Ethan")
    assert (answer["error"]["code"], answer["error"]["param"]) == ("invalid_value", "session")


def test_a_broken_engine(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"), error_after=1)
    commit(socket, "Hello.")
    events = until(socket, "response.done")
    told = [event["error"] for event in events if event["type"] == "error"]
    assert [(error["type"], error["code"]) for error in told] == [("server_error", "internal")]
    assert events[-1]["response"]["status"] == "failed"
    assert closed(socket) == 1011


def test_a_revoked_key(socket: ClientConnection, alice: Party) -> None:
    revoke_key(SYSTEM, alice.key)

    def is_refused() -> bool:
        commit(socket, "Hello.")
        return until(socket, "response.done", "error")[-1]["type"] == "error"

    eventually(is_refused)
    assert closed(socket) == 1008


def test_a_model_that_is_not_served(url: str, alice: Party) -> None:
    with (
        pytest.raises(InvalidStatus) as refusal,
        connect(f"{url}?model=qwen-vl", additional_headers=alice.headers),
    ):
        pass
    assert refusal.value.response.status_code == 404
    assert json.loads(refusal.value.response.body)["code"] == "ModelNotFound"


def test_no_key(url: str) -> None:
    with pytest.raises(InvalidStatus) as refusal, connect(url):
        pass
    assert refusal.value.response.status_code == 401
    assert json.loads(refusal.value.response.body)["code"] == "InvalidApiKey"


def test_finish_while_the_engine_is_away(
    socket: ClientConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_: object) -> None:
        raise ApiError(503, "engine_unavailable", "The engine is away.")

    append(socket, "Hello")
    monkeypatch.setattr(session, "catalogue", away)
    send(socket, "session.finish")
    assert until(socket, "error")[-1]["error"]["code"] == "engine_unavailable"
    assert closed(socket) == 1011
    eventually(lambda: RequestLog.objects.filter(error_code="engine_unavailable").exists())


def test_more_text_after_the_finish(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=1)
    append(socket, "Hello.")
    send(socket, "session.finish")
    until(socket, "response.audio.delta")
    append(socket, "And more.")
    assert until(socket, "error")[-1]["error"]["code"] == "out_of_order"
    engine.release.set()
    until(socket, "session.finished")
    assert closed(socket) == 1000


def test_a_text_longer_than_a_response_may_be(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    """Two responses, and not a character is lost."""
    texts = [f"Sentence {number} of a very long story. " for number in range(150)]
    for text in texts:
        append(socket, text)
    send(socket, "session.finish")
    events = until(socket, "session.finished")
    assert kinds(events).count("response.done") == 2
    assert "".join(heard.text for heard in engine.heard) == "".join(texts)
    assert closed(socket) == 1000


def test_a_client_that_leaves_frees_the_engine_and_pays_for_what_it_heard(
    url: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(chunks=50, hold_after=2)
    with connect(url, additional_headers=alice.headers) as client:
        commit(client, "A long story that nobody will hear to its end.")
        until(client, "response.audio.delta")
        append(client, "And what waits costs nothing.")
    assert engine.heard[0].ended.wait(10)
    event = eventually(UsageEvent.objects.first)
    assert event.outcome == "cancelled"
    assert 0 < event.billed_characters < 46


def test_a_key_for_one_voice_alone(url: str, alice: Party, engine: ScriptedEngine) -> None:
    """It opens a session whose usual voice it may not use, and sets its own."""
    _, secret = create_key(SYSTEM, alice.tenant, "Ben's", allowed_voices=["Ben"])
    with connect(url, additional_headers={"Authorization": f"Bearer {secret}"}) as client:
        received(client)
        assert update(client, voice="Ethan")["type"] == "session.updated"
        commit(client, "Hello.")
        until(client, "response.done")
        assert update(client, voice="Cherry")["error"]["code"] == "voice_not_allowed"
        commit(client, "Hello again.")
        until(client, "response.done")
    assert [heard.start.voice.preset for heard in engine.heard] == ["Ben", "Ben"]


def test_an_origin_is_no_hindrance(base: str, url: str, alice: Party) -> None:
    headers = {**alice.headers, "X-DashScope-WorkSpace": "mine"}
    prefixed = url.replace("/api-ws", "/dashscope/api-ws")
    with connect(prefixed, additional_headers=headers, origin=base) as client:
        assert received(client)["type"] == "session.created"


def test_usage_stays_with_its_tenant(url: str, alice: Party, bob: Party, mallory: Party) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        with connect(url, additional_headers=party.headers) as client:
            commit(client, text)
            until(client, "response.done")
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()
