"""Three kinds of checkpoint behind one endpoint: a request goes to the one that its voice needs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import grpc
import httpx
import pytest
import torch
from websockets.sync.client import ClientConnection, connect

from gpu_engine.assemble import assemble
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc
from gpu_engine.train.described import FEMALE_HZ
from gpu_engine.train.pitch import median_pitch
from tests.product.running import PATIENCE, Running
from tests.ttsapp.browser import browser
from ttsapp.launch import access

PROMPT = "A warm, low voice of a woman in her fifties."
SAID = "The ferry left the old pier before the fog rolled in."


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("designed")
    assemble(folder / "base")
    assemble(folder / "design", "voice_design")
    more = f"{folder / 'base'},{folder / 'design'}"
    with Running(folder / "data", PARLANCE_MORE_CHECKPOINTS=more) as running:
        yield running


@pytest.fixture
def client(product: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=product.base, headers=product.headers, timeout=PATIENCE) as client:
        yield client


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["param"], error["code"]


def test_all_three_are_served(client: httpx.Client) -> None:
    served = [each["id"] for each in client.get("/v1/models").json()["data"]]
    assert {"base", "design"} < set(served)
    assert "tts-1" in served


def test_a_request_goes_by_its_task(product: Running) -> None:
    described = product.say(SAID, voice=..., task_type="VoiceDesign", instructions=PROMPT)
    by_model = product.say(SAID, model="design", instructions=PROMPT)
    preset = product.say(SAID, voice="oscar", task_type="CustomVoice")
    for answer, model in ((described, "design"), (by_model, "design")):
        assert (answer.status_code, len(answer.content) > 24_000) == (200, True), answer.text
        row = product.settled(answer)
        assert (row["model"], row["voice"], row["finish_reason"]) == (model, "(described)", "stop")
    assert product.settled(preset)["voice"] == "oscar"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"task_type": "VoiceDesign", "instructions": PROMPT}, ("design", "(described)")),
        ({"task_type": "CustomVoice", "voice": "oscar"}, ("tiny", "oscar")),
    ],
)
def test_a_socket_goes_by_its_task(
    product: Running, asked: dict[str, str], said: tuple[str, str]
) -> None:
    url = product.base.replace("http:", "ws:") + "/v1/audio/speech/ws"
    with connect(url, additional_headers=product.headers, open_timeout=PATIENCE) as socket:
        for sent in ({"type": "start", **asked}, {"type": "text", "text": SAID}, {"type": "end"}):
            socket.send(json.dumps(sent))
        accepted, audio, finished = told(socket), 0, None
        while finished is None:
            piece = socket.recv(PATIENCE)
            if isinstance(piece, bytes):
                audio += len(piece)
            else:
                finished = json.loads(piece)
    assert (accepted["model"], accepted["voice"]) == said
    assert (finished["type"], finished["finish_reason"]) == ("finished", "stop")
    assert audio > 24_000


def told(socket: ClientConnection) -> dict[str, str]:
    found: dict[str, str] = json.loads(socket.recv(PATIENCE))
    return found


@pytest.mark.parametrize(("person", "is_high"), [("man", False), ("woman", True)])
def test_who_is_described_is_heard(product: Running, person: str, is_high: bool) -> None:
    """Given a description of a man or a woman, when it speaks, then its pitch is of that sex."""
    told = f"A {person} with an American accent."
    answer = product.say(SAID, voice=..., task_type="VoiceDesign", instructions=told, seed=1)
    assert (answer.status_code, len(answer.content) > 24_000) == (200, True), answer.text
    samples = torch.frombuffer(bytearray(answer.content), dtype=torch.int16) / 32768
    assert (float(median_pitch(samples[None])) > FEMALE_HZ) == is_high


def test_a_described_voice_without_a_description_is_refused(product: Running) -> None:
    answer = product.say(SAID, voice=..., task_type="VoiceDesign")
    assert refusal(answer) == (400, "instructions", "missing_field")


def test_a_voice_is_designed_once_and_does_not_drift(
    product: Running, client: httpx.Client
) -> None:
    """Given one that was saved, when it says other things, then all of it is by the one reference
    that was heard when it was made."""
    before = speakers_known(product)
    sent = {"name": "Old sailor", "type": "prompt", "prompt": PROMPT}
    made = client.post("/v1/audio/voices", json=sent)
    assert made.status_code == 200, made.text
    voice = made.json()["id"]

    first, again = (product.say(SAID, voice=voice, seed=1) for _ in range(2))
    other = product.say("Nobody looked back.", voice=voice, seed=2, task_type="Base")

    assert first.content == again.content
    assert [went_to(product, each) for each in (first, again, other)] == ["base"] * 3
    assert speakers_known(product) - before == 1
    stored = sorted(file.parts[-3] for file in product.plan.data.glob("voices/*/*/*"))
    assert stored == ["artifact", "clip"]


def went_to(product: Running, answer: httpx.Response) -> object:
    """The model that spoke."""
    assert (answer.status_code, len(answer.content) > 10_000) == (200, True), answer.content[:300]
    return product.settled(answer)["model"]


def speakers_known(product: Running) -> int:
    """To the engine that clones, in its next heartbeat."""
    with grpc.insecure_channel(f"unix:{product.plan.data}/engine-2.sock") as channel:
        watch = engine_pb2_grpc.EngineStub(channel).WatchStatus(
            pb.WatchStatusRequest(interval_ms=1500)
        )
        next(watch)
        found: int = next(watch).caches["speakers"].entries
        watch.cancel()
        return found


def test_it_is_designed_in_the_console(product: Running) -> None:
    known = access.read(product.plan.data / access.FILE)
    assert known.password is not None
    with browser(product.base, known.username, known.password) as page:
        page.timeout = PATIENCE
        listed = page.get(f"/console/{known.tenant}/voices").text
        empty = page.post(f"/console/{known.tenant}/voices/design", data={"name": "Ada"})
        sent = {"name": "Ada", "language": "auto", "speed": "1", "prompt": PROMPT}
        made = page.post(f"/console/{known.tenant}/voices/design", data=sent)
        shown = page.get(made.headers["location"]).text
    assert "Design one" in listed
    assert (empty.status_code, "This field is required." in empty.text) == (400, True)
    assert "designed from a description" in shown
    assert PROMPT in shown
    assert went_to(product, product.say(SAID, voice="Ada")) == "base"
