"""Deepgram's dialect: `v1/speak` over HTTP and as a socket."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import revoke_key
from ttsapp.lexicon.services import add_word
from ttsapp.speech.models import RequestLog

RAW = {"encoding": "linear16", "container": "none"}


def token(party: Party) -> dict[str, str]:
    return {"Authorization": f"Token {party.secret}"}


def say(http: httpx.Client, party: Party, text: object = "Hello there.", **query: str):
    return http.post("/v1/speak", params=query, json={"text": text}, headers=token(party))


def refused(response: httpx.Response, status: int, code: str) -> str:
    assert response.status_code == status
    body = response.json()
    assert set(body) == {"err_code", "err_msg", "request_id"}
    assert body["err_code"] == code
    assert response.headers["dg-request-id"] == body["request_id"]
    assert response.headers["dg-error"] == body["err_msg"]
    return body["err_msg"]


def test_it_works(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    answer = say(http, alice, model="aura-2-thalia-en", **RAW)
    assert (answer.status_code, answer.content) == (200, spoken(5))
    assert answer.headers["content-type"].startswith("audio/")
    assert answer.headers["dg-char-count"] == "12"
    assert answer.headers["dg-model-name"] == engine.heard[0].start.voice.preset
    assert (engine.heard[0].start.text, engine.heard[0].start.language) == (
        "Hello there.",
        "english",
    )
    event = UsageEvent.objects.get()
    assert str(event.id) == answer.headers["dg-request-id"]
    assert (event.tenant_id, event.billed_characters) == (alice.tenant.id, 12)


@pytest.mark.parametrize("scheme", ["Token", "token", "Bearer"])
def test_schemes(http: httpx.Client, alice: Party, scheme: str) -> None:
    headers = {"Authorization": f"{scheme} {alice.secret}"}
    assert http.post("/deepgram/v1/speak", json={"text": "Hi."}, headers=headers).status_code == 200


def test_plain_text(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    headers = {**token(alice), "Content-Type": "text/plain"}
    assert http.post("/v1/speak", content="Héllo.".encode(), headers=headers).status_code == 200
    assert engine.heard[0].start.text == "Héllo."


@pytest.mark.parametrize(
    ("query", "starts"),
    [
        ({}, b"\xff"),
        ({"encoding": "linear16"}, b"RIFF"),
        ({"encoding": "opus"}, b"OggS"),
        ({"encoding": "flac"}, b"fLaC"),
    ],
)
def test_encodings(http: httpx.Client, alice: Party, query: dict[str, str], starts: bytes) -> None:
    assert say(http, alice, **query).content.startswith(starts)


def test_telephone_audio(http: httpx.Client, alice: Party) -> None:
    """400 ms at 8,000 samples of one byte a second."""
    assert len(say(http, alice, encoding="mulaw", container="none").content) == 3200


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"voice": "clara"}, "Unknown parameter 'voice'."),
        ({"callback": "http://10.0.0.1/"}, "Unknown parameter 'callback'."),
        ({"encoding": "mp4"}, "encoding 'mp4' is not offered"),
        ({"encoding": "mp3", "container": "wav"}, "container 'wav' is not offered"),
        ({"sample_rate": "1e9"}, "sample_rate must be a number"),
        ({"sample_rate": "24000.5"}, "sample_rate must be a whole number"),
        ({"speed": "0"}, "speed may be 0.25 to 4.0."),
        ({"model": "aura-2-nobody-en"}, "Unknown voice 'nobody'"),
        ({"model": "aura-2-thalia-xx"}, "Unknown language 'xx'"),
    ],
)
def test_bad_query(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, query: dict[str, str], message: str
) -> None:
    said = say(http, alice, **query)
    assert message in refused(said, 400, said.json()["err_code"])
    assert engine.heard == []


def test_no_key(http: httpx.Client, engine: ScriptedEngine) -> None:
    refused(http.post("/v1/speak", json={"text": "Hi."}), 401, "INVALID_AUTH")
    assert engine.heard == []


def test_blank_text(http: httpx.Client, alice: Party) -> None:
    refused(say(http, alice, " "), 400, "EMPTY_INPUT")
    eventually(lambda: RequestLog.objects.filter(error_code="empty_input").exists())


def test_text_of_the_wrong_type(http: httpx.Client, alice: Party) -> None:
    refused(say(http, alice, 5), 400, "INVALID_TYPE")


def test_a_form(http: httpx.Client, alice: Party) -> None:
    answer = http.post("/v1/speak", data={"text": "Hi."}, headers=token(alice))
    refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_the_wrong_method(http: httpx.Client, alice: Party) -> None:
    answer = http.get("/v1/speak", headers=token(alice))
    refused(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == "POST"


def test_another_address(http: httpx.Client, alice: Party) -> None:
    refused(http.get("/deepgram/v1/listen", headers=token(alice)), 404, "UNKNOWN_URL")


def test_a_full_engine(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    engine.script = Script(
        error=pb.Error(code="engine_full", message="full", retryable=True, retry_after_ms=1500)
    )
    answer = say(http, alice)
    refused(answer, 503, "ENGINE_FULL")
    assert answer.headers["Retry-After"] == "2"


def test_usage_stays_with_its_tenant(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        assert say(http, party, text).status_code == 200
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()


# ---- the socket


@pytest.fixture
def url(base: str) -> str:
    return base.replace("http:", "ws:") + "/v1/speak"


@pytest.fixture
def socket(url: str, alice: Party) -> Iterator[ClientConnection]:
    with connect(f"{url}?model=aura-2-zeus-en", additional_headers=token(alice)) as client:
        assert received(client)["type"] == "Metadata"
        yield client


def send(socket: ClientConnection, kind: str, text: str | None = None) -> None:
    socket.send(json.dumps({"type": kind} if text is None else {"type": kind, "text": text}))


def received(socket: ClientConnection) -> dict:
    message = socket.recv(10)
    assert isinstance(message, str), "audio where a message was due"
    return json.loads(message)


def hear(socket: ClientConnection) -> tuple[bytes, dict]:
    """All audio up to the next message, and that message."""
    audio = b""
    while isinstance(piece := socket.recv(10), bytes):
        audio += piece
    return audio, json.loads(piece)


def closed(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        socket.recv(10)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def test_socket_speaks_word_by_word(
    socket: ClientConnection, alice: Party, engine: ScriptedEngine
) -> None:
    for word in ("Hello ", "there. "):
        send(socket, "Speak", word)
    send(socket, "Flush")
    assert hear(socket) == (spoken(5), {"type": "Flushed", "sequence_id": 0})
    assert "".join(heard.text for heard in engine.heard).strip() == "Hello there."
    event = UsageEvent.objects.get()
    assert (event.tenant_id, event.billed_characters) == (alice.tenant.id, 13)


def test_ones_own_pronunciations(
    http: httpx.Client, socket: ClientConnection, alice: Party, engine: ScriptedEngine
) -> None:
    add_word(SYSTEM, alice.tenant, "SQL", "sequel")
    answer = say(http, alice, "Use SQL.", **RAW)
    assert answer.headers["dg-char-count"] == "11"
    send(socket, "Speak", "Use SQL.")
    send(socket, "Flush")
    hear(socket)
    assert [heard.text.strip() for heard in engine.heard] == ["Use sequel."] * 2


def test_socket_turns_follow_one_another(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=2)
    send(socket, "Speak", "One.")
    send(socket, "Flush")
    engine.wait_for_stream().reached.wait(10)
    send(socket, "Speak", "Two.")
    send(socket, "Flush")
    send(socket, "Close")
    engine.release.set()
    assert hear(socket) == (spoken(5), {"type": "Flushed", "sequence_id": 0})
    assert hear(socket) == (spoken(5), {"type": "Flushed", "sequence_id": 1})
    assert closed(socket) == 1000
    assert [heard.text.strip() for heard in engine.heard] == ["One.", "Two."]
    assert UsageEvent.objects.count() == 2


def test_socket_clear(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=1)
    send(socket, "Speak", "A long story. ")
    send(socket, "Flush")
    first = socket.recv(10)
    send(socket, "Speak", "Which nobody hears.")
    send(socket, "Clear")
    assert isinstance(first, bytes)
    assert hear(socket)[1] == {"type": "Cleared", "sequence_id": 0}
    assert engine.heard[0].ended.wait(10)
    engine.script = Script()
    send(socket, "Speak", "Next.")
    send(socket, "Flush")
    assert hear(socket) == (spoken(5), {"type": "Flushed", "sequence_id": 0})
    assert len(engine.heard) == 2


def test_socket_flush_and_clear_of_nothing(socket: ClientConnection) -> None:
    for kind, answer in (("Flush", "Flushed"), ("Clear", "Cleared")):
        send(socket, kind)
        assert received(socket) == {"type": answer, "sequence_id": 0}


def test_socket_flush_of_silence(socket: ClientConnection, engine: ScriptedEngine) -> None:
    send(socket, "Speak", " ")
    send(socket, "Flush")
    assert received(socket) == {"type": "Flushed", "sequence_id": 0}
    assert engine.heard == []


def test_socket_close(socket: ClientConnection) -> None:
    send(socket, "Speak", "Bye.")
    send(socket, "Close")
    assert hear(socket) == (spoken(5), {"type": "Flushed", "sequence_id": 0})
    assert closed(socket) == 1000


@pytest.mark.parametrize("waits", [True, False])
def test_socket_speaks_nothing_that_follows_close(
    socket: ClientConnection, engine: ScriptedEngine, waits: bool
) -> None:
    """Whether text waits before it or not: of text one is warned, the rest is dropped."""
    engine.script = Script(hold_after=1)
    send(socket, "Speak", "One. ")
    send(socket, "Flush")
    engine.wait_for_stream().reached.wait(10)
    said = ["One."]
    if waits:
        send(socket, "Speak", "Two. ")
        said.append("Two.")
    send(socket, "Close")
    for message in (("Speak", "Three."), ("Flush", None), ("Clear", None)):
        send(socket, *message)
    assert hear(socket)[1]["code"] == "OUT_OF_ORDER"
    engine.release.set()
    for number in range(len(said)):
        assert hear(socket)[1] == {"type": "Flushed", "sequence_id": number}
    assert closed(socket) == 1000
    assert [heard.text.strip() for heard in engine.heard] == said


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "INVALID_JSON"),
        ("[]", "INVALID_TYPE"),
        ('{"type": "Sing"}', "INVALID_VALUE"),
        ('{"type": "Speak", "text": 5}', "INVALID_TYPE"),
        ('{"type": "Speak", "texts": "x"}', "INVALID_TYPE"),
        (json.dumps({"type": "Speak", "text": "x" * 5000}), "STRING_ABOVE_MAX_LENGTH"),
    ],
)
def test_socket_warns_and_goes_on(socket: ClientConnection, message: str, code: str) -> None:
    socket.send(message)
    warning = received(socket)
    assert (warning["type"], warning["code"]) == ("Warning", code)
    assert warning["description"] == warning["warn_msg"]
    send(socket, "Speak", "Fine.")
    send(socket, "Flush")
    assert hear(socket)[0] == spoken(5)


def test_socket_with_a_broken_engine(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"), error_after=1)
    send(socket, "Speak", "Hello.")
    send(socket, "Flush")
    _, message = hear(socket)
    assert (message["type"], message["err_code"]) == ("Error", "INTERNAL")
    assert closed(socket) == 1011


def test_socket_whose_key_is_revoked(socket: ClientConnection, alice: Party) -> None:
    revoke_key(SYSTEM, alice.key)
    answers = []

    def is_refused() -> bool:
        send(socket, "Speak", "Hello.")
        send(socket, "Flush")
        answers.append(hear(socket)[1])
        return answers[-1]["type"] == "Warning"

    eventually(is_refused)
    assert answers[-1]["code"] == "REVOKED_API_KEY"


def test_socket_whose_key_is_revoked_while_text_waits(
    socket: ClientConnection, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(hold_after=1)
    send(socket, "Speak", "One.")
    send(socket, "Flush")
    assert socket.recv(10) == spoken(1)
    for text in ("Two.", "Three."):
        send(socket, "Speak", text)
        send(socket, "Flush")
    # A message that is answered: the ones before it have arrived.
    socket.send("{")
    audio, warning = hear(socket)
    assert (audio, warning["code"]) == (b"", "INVALID_JSON")
    revoke_key(SYSTEM, alice.key)
    audio, failure = hear(socket)
    assert (audio, failure["type"], failure["err_code"]) == (b"", "Error", "REVOKED_API_KEY")
    assert closed(socket) == 1008
    assert len(engine.heard) == 1


@pytest.mark.parametrize(
    ("query", "status"), [("?encoding=mp3", 400), ("?model=aura-2-nobody-en", 400)]
)
def test_socket_refused(url: str, alice: Party, query: str, status: int) -> None:
    with (
        pytest.raises(InvalidStatus) as refusal,
        connect(url + query, additional_headers=token(alice)),
    ):
        pass
    assert refusal.value.response.status_code == status
    assert refusal.value.response.headers["dg-error"]


def test_socket_without_a_key(url: str) -> None:
    with pytest.raises(InvalidStatus) as refusal, connect(url):
        pass
    assert refusal.value.response.status_code == 401


def test_socket_with_the_key_as_protocol(url: str, alice: Party) -> None:
    with connect(url, subprotocols=["token", alice.secret]) as client:
        assert client.subprotocol == "token"
        assert received(client)["type"] == "Metadata"
