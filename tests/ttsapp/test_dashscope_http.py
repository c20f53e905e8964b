"""DashScope's dialect over HTTP: `multimodal-generation/generation` and its files."""

from __future__ import annotations

import base64
import io
import json
import time
from pathlib import Path

import httpx
import pytest
import soundfile
from django.conf import settings

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.speech import kept
from ttsapp.speech.models import RequestLog

PATH = "/api/v1/services/aigc/multimodal-generation/generation"
SSE = {"X-DashScope-SSE": "enable", "Accept": "text/event-stream"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "DATA", tmp_path)
    monkeypatch.setattr(kept, "SWEEP_SECONDS", 0.0)
    monkeypatch.setattr(kept, "_sweeps", kept._Sweeps())
    return tmp_path / "answers"


def body(text: object = "Hello there.", parameters: object = ..., **said: object) -> dict:
    asked = {"model": "qwen3-tts-flash", "input": {"text": text, "voice": "Cherry", **said}}
    return asked if parameters is ... else {**asked, "parameters": parameters}


def say(http: httpx.Client, party: Party, asked: object = None, **headers: str) -> httpx.Response:
    return http.post(PATH, json=asked or body(), headers={**party.headers, **headers})


def refused(response: httpx.Response, status: int, code: str) -> str:
    assert response.status_code == status
    told = response.json()
    assert set(told) == {"code", "message", "request_id"}
    assert (told["code"], told["request_id"]) == (code, response.headers["x-request-id"])
    return told["message"]


def events(response: httpx.Response) -> list[dict[str, str]]:
    """The fields of each event; lines that begin with a colon say nothing."""
    return [
        dict(line.split(":", 1) for line in event.splitlines() if not line.startswith(":"))
        for event in response.text.strip().split("\n\n")
    ]


def pcm(wav: bytes) -> bytes:
    samples, rate = soundfile.read(io.BytesIO(wav), dtype="int16")
    assert rate == 24000
    return samples.tobytes()


def test_a_whole_answer_is_the_address_of_a_file(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    answer = say(http, alice)
    told = answer.json()
    usage = UsageEvent.objects.get()
    sound = told["output"].pop("audio")
    assert told == {
        "output": {"finish_reason": "stop"},
        "usage": {"characters": 12},
        "request_id": str(usage.id),
    }
    assert (sound["id"], sound["data"]) == (f"audio_{usage.id.hex}", "")
    assert 3500 < sound["expires_at"] - time.time() <= 3600
    # Whoever fetches the file sends no key.
    file = httpx.get(sound["url"])
    assert (file.headers["content-type"], pcm(file.content)) == ("audio/wav", spoken(5))
    assert engine.heard[0].start.voice.preset == "Anna"
    assert (usage.tenant_id, usage.billed_characters) == (alice.tenant.id, 12)
    assert RequestLog.objects.get().transport == "http"


def test_sse_events_have_id_event_and_data(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, **SSE)
    assert answer.headers["content-type"] == "text/event-stream"
    heard = events(answer)
    assert [event["id"] for event in heard] == [str(place + 1) for place in range(len(heard))]
    assert {event["event"] for event in heard} == {"result"}
    told = [json.loads(event["data"]) for event in heard]
    sounds = [each["output"]["audio"] for each in told]
    assert b"".join(base64.b64decode(sound["data"]) for sound in sounds) == spoken(5)
    reasons = [each["output"]["finish_reason"] for each in told]
    assert reasons == ["null"] * (len(told) - 1) + ["stop"]
    assert {each["request_id"] for each in told} == {str(UsageEvent.objects.get().id)}
    assert all(sound["id"] and sound["expires_at"] for sound in sounds)
    assert [sound["url"] for sound in sounds[:-1]] == [""] * (len(told) - 1)
    assert pcm(httpx.get(sounds[-1]["url"]).content) == spoken(5)
    assert RequestLog.objects.get().transport == "sse"


@pytest.mark.parametrize("headers", [{}, SSE])
def test_audio_id_expires_at_and_request_id_are_always_present(
    http: httpx.Client, alice: Party, headers: dict[str, str]
) -> None:
    answer = say(http, alice, **headers)
    told = [json.loads(event["data"]) for event in events(answer)] if headers else [answer.json()]
    request_id = answer.headers["x-request-id"]
    for each in told:
        sound = each["output"]["audio"]
        assert sound["id"] == f"audio_{request_id.replace('-', '')}"
        assert 3500 < sound["expires_at"] - time.time() <= 3600
        assert (each["request_id"], each["usage"]) == (request_id, {"characters": 12})


@pytest.mark.parametrize(
    "asked",
    [
        body(language_type="German"),
        body(parameters={"language_type": "German"}),
        body(language_type="German", parameters={"language_type": "English"}),
    ],
)
def test_language_type_in_both_places(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, asked: dict
) -> None:
    assert say(http, alice, asked).status_code == 200
    assert engine.heard[0].start.language == "german"


def test_parameters(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    beside = {"instructions": "Softly.", "seed": 7, "volume": 50, "incremental_output": None}
    assert say(http, alice, body(parameters=beside)).status_code == 200
    start = engine.heard[0].start
    assert (start.instructions, start.seed) == ("Softly.", 7)


def test_text_is_normalised_on_request(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    asked = body("It costs 5 euros.", language_type="English", parameters={"enable_tn": True})
    assert say(http, alice, asked).status_code == 200
    assert engine.heard[0].start.text == "It costs five euros."


def test_the_prefix(http: httpx.Client, alice: Party) -> None:
    assert http.post(f"/dashscope{PATH}", json=body(), headers=alice.headers).status_code == 200


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"model": "qwen3-tts-flash"}, "The field input is required"),
        ({"model": "qwen3-tts-flash", "input": {"voice": "Cherry"}}, "The field input.text is"),
        ({"model": "qwen3-tts-flash", "input": []}, "input is not a JSON object"),
        (body(5), "input.text is a number"),
        (body(" "), "There is nothing to say"),
        (body("x" * 5000), "The text has 5000 characters"),
        (body(voice="Nobody"), "Unknown voice 'Nobody'"),
        (body(language_type="Klingon"), "Unknown language 'Klingon'"),
        (body(parameters={"seed": -1}), "parameters.seed -1 is out of range"),
    ],
)
def test_a_bad_request(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, asked: dict, message: str
) -> None:
    said = say(http, alice, asked)
    assert message in refused(said, 400, said.json()["code"])
    assert said.json()["code"].startswith("InvalidParameter.")
    assert engine.heard == []
    eventually(lambda: RequestLog.objects.exists())


def test_another_vendors_model(http: httpx.Client, alice: Party) -> None:
    refused(say(http, alice, {**body(), "model": "whisper-1"}), 404, "ModelNotFound")


def test_a_form(http: httpx.Client, alice: Party) -> None:
    answer = http.post(PATH, data={"model": "x"}, headers=alice.headers)
    refused(answer, 415, "InvalidParameter.UnsupportedMediaType")


def test_no_key(http: httpx.Client, engine: ScriptedEngine) -> None:
    refused(http.post(PATH, json=body()), 401, "InvalidApiKey")
    assert engine.heard == []


def test_the_wrong_method(http: httpx.Client, alice: Party) -> None:
    answer = http.get(PATH, headers=alice.headers)
    refused(answer, 405, "InvalidParameter.MethodNotAllowed")
    assert answer.headers["Allow"] == "POST"


@pytest.mark.parametrize("path", ["/dashscope/api/v1/tasks", "/api/v1/services/aigc/text"])
def test_another_address(http: httpx.Client, alice: Party, path: str) -> None:
    refused(http.get(path, headers=alice.headers), 404, "NotFound.UnknownUrl")


def test_a_full_engine(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    error = pb.Error(code="engine_full", message="full", retryable=True, retry_after_ms=1500)
    engine.script = Script(error=error)
    answer = say(http, alice, **SSE)
    refused(answer, 503, "ServiceUnavailable.EngineFull")
    assert answer.headers["Retry-After"] == "2"


def test_a_failure_after_audio_is_an_event_and_breaks_the_connection(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"), error_after=1)
    heard = b""
    headers = {**alice.headers, **SSE}
    with (
        http.stream("POST", PATH, json=body(), headers=headers) as answer,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        for piece in answer.iter_bytes():
            heard += piece
    last = heard.decode().strip().split("\n\n")[-1].splitlines()
    assert last[:3] == ["id:2", "event:error", "status:500"]
    assert json.loads(last[3].removeprefix("data:"))["code"] == "InternalError.Internal"


def test_usage_stays_with_its_tenant(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        assert say(http, party, body(text)).status_code == 200
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()


# ---- the files


def test_a_file_that_has_expired(http: httpx.Client, alice: Party, folder: Path) -> None:
    url = say(http, alice).json()["output"]["audio"]["url"]
    name = url.rsplit("/", 1)[1]
    old = f"{int(time.time()) - 1}{name[10:]}"
    (folder / name).rename(folder / old)
    refused(httpx.get(url.replace(name, old)), 404, "NotFound.AudioNotKept")
    say(http, alice)
    assert not (folder / old).exists()


@pytest.mark.parametrize("name", ["x.wav", "..%2Fparlance.sqlite3", f"{2**33}-{'a' * 32}.wav"])
def test_a_file_that_never_was(http: httpx.Client, name: str) -> None:
    assert http.get(f"/dashscope/audio/{name}").status_code == 404


def test_a_file_takes_nothing(http: httpx.Client) -> None:
    refused(http.post("/dashscope/audio/x.wav"), 405, "InvalidParameter.MethodNotAllowed")


def test_the_oldest_files_make_room(
    http: httpx.Client, alice: Party, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "ANSWERS", kept.Shelf("answers", 2 * (len(spoken(5)) + 44)))
    for _ in range(4):
        say(http, alice)
    assert len(list(folder.iterdir())) == 2


def test_a_full_disk_loses_nothing(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(shelf: kept.Shelf, name: str, audio: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept, "_write", full)
    sound = say(http, alice).json()["output"]["audio"]
    assert sound["url"] == ""
    assert pcm(base64.b64decode(sound["data"])) == spoken(5)
