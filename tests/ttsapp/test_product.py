"""The whole product on the real engine: what is heard is what is metered, also after a kill -9."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import openai
import pytest
from websockets.sync.client import ClientConnection, connect

from tests.parity.tiny_checkpoints import build
from tests.ttsapp.conftest import eventually, speech
from tests.ttsapp.product import PATIENCE, Product

# Random weights speak noise, and at such length that the frame cap has to end it.
CHECKPOINT = "tiny-1b7-custom_voice"
SENTENCES = ("Hello there. ", "Hi you.")
# Longer than a stream may be ahead of its listener, or it would be over before anybody looks.
LONG_TEXT = "One two three four five six seven eight nine ten. " * 60


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    with Product(folder, build(CHECKPOINT, folder / "checkpoint")) as running:
        yield running


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Product]:
    """The same, but a text of more than twenty characters is spoken in parts."""
    checkpoint = build(CHECKPOINT, tmp_path / "checkpoint")
    with Product(tmp_path, checkpoint, PARLANCE_SEGMENT_CHARACTERS="20") as running:
        yield running


@pytest.fixture(autouse=True)
def all_settled(product: Product) -> Iterator[None]:
    """Every test leaves the engine empty and the ledger without a reservation."""
    yield
    eventually(product.is_ready, PATIENCE)
    eventually(lambda: product.streams() == 0, PATIENCE)
    assert product.reservations() == 0


def voice(product: Product) -> str:
    return httpx.get(f"{product.base}/v1/audio/voices", headers=product.headers).json()["data"][0][
        "id"
    ]


def say(product: Product, text: str = "Hello there.", **fields: object) -> httpx.Response:
    url = f"{product.base}/v1/audio/speech"
    return httpx.post(url, json=speech(text, **fields), headers=product.headers, timeout=PATIENCE)


def test_it_works(product: Product) -> None:
    response = say(product, seed=1)

    assert response.status_code == 200
    milliseconds = len(response.content) // 48
    assert milliseconds > 0
    assert product.usage()[-1] == ("completed", 12, milliseconds)


def test_the_same_seed_is_the_same_audio(product: Product) -> None:
    first, again, other = (say(product, seed=seed).content for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_streamed_and_whole_are_the_same_samples(product: Product) -> None:
    streamed = say(product, seed=5).content
    whole = say(product, seed=5, response_format="wav", stream=False)

    with wave.open(io.BytesIO(whole.content)) as file:
        assert file.readframes(file.getnframes()) == streamed
    assert whole.headers["x-finish-reason"] in ("stop", "length")


def test_the_openai_client_streams_mp3(product: Product) -> None:
    with openai.OpenAI(base_url=f"{product.base}/v1", api_key=product.key) as client:
        streamed = client.audio.speech.with_streaming_response.create(
            model="tts-1", voice=voice(product), input="Hello there."
        )
        with streamed as response:
            pieces = list(response.iter_bytes())
    assert len(pieces) > 1
    assert pieces[0][:2] == b"\xff\xf3"


def test_four_at_once(product: Product) -> None:
    alone = [say(product, seed=seed).content for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: say(product, seed=seed).content, range(4)))
    assert together == alone


@contextmanager
def live(product: Product, **fields: object) -> Iterator[ClientConnection]:
    """A socket with an utterance that has been accepted."""
    url = product.base.replace("http:", "ws:") + "/v1/audio/speech/ws"
    with connect(url, additional_headers=product.headers) as socket:
        send(socket, type="start", voice=voice(product), seed=1, **fields)
        assert json.loads(socket.recv(PATIENCE))["type"] == "accepted"
        yield socket


def send(socket: ClientConnection, **message: object) -> None:
    socket.send(json.dumps(message))


def hear(socket: ClientConnection) -> tuple[bytes, dict]:
    audio = b""
    while isinstance(frame := socket.recv(PATIENCE), bytes):
        audio += frame
    return audio, json.loads(frame)


def test_a_socket_speaks_each_sentence_as_it_completes(product: Product) -> None:
    with live(product) as socket:
        send(socket, type="text", text="Hello there. Hi")
        first = socket.recv(PATIENCE)
        assert isinstance(first, bytes), "speaks before the text has ended"
        eventually(lambda: product.streams() == 0, PATIENCE)
        send(socket, type="text", text=" you.")
        send(socket, type="end")
        rest, finished = hear(socket)

    one, two = (say(product, text, seed=1, voice=voice(product)) for text in SENTENCES)
    assert first + rest == one.content + two.content
    assert (finished["characters"], finished["audio_ms"]) == (20, len(first + rest) // 48)
    assert product.usage()[-3] == ("completed", 20, len(first + rest) // 48)


def test_a_long_text_is_its_parts_joined(parts: Product) -> None:
    one, two = "Hello there. Hi you. ", "Hello there. Hi you."
    whole = say(parts, one + two, seed=1)
    assert whole.content == say(parts, one, seed=1).content + say(parts, two, seed=1).content
    assert parts.usage()[0] == ("completed", 41, len(whole.content) // 48)


def test_words_are_spoken_as_they_come_and_a_rest_frees_the_engine(product: Product) -> None:
    with live(product, mode="token") as socket:
        send(socket, type="text", text="Hello there, ")
        assert isinstance(socket.recv(PATIENCE), bytes), "speaks before the text has ended"
        eventually(lambda: product.streams() == 1)
        eventually(lambda: product.streams() == 0, PATIENCE)
        send(socket, type="text", text="you.")
        send(socket, type="end")
        _, finished = hear(socket)
    assert (finished["finish_reason"] != "error", finished["billed_characters"]) == (True, 17)


def test_barge_in_frees_the_engine_and_says_what_was_spoken(product: Product) -> None:
    with live(product) as socket:
        send(socket, type="text", text=LONG_TEXT)
        send(socket, type="end")
        assert isinstance(socket.recv(PATIENCE), bytes)
        eventually(lambda: product.reservations() == 1)
        send(socket, type="cancel")
        _, finished = hear(socket)
        eventually(lambda: product.streams() == 0)
    assert finished["finish_reason"] == "cancelled"
    assert finished["spoken_characters"] == finished["billed_characters"] < len(LONG_TEXT)
    assert product.usage()[-1] == (
        "cancelled",
        finished["billed_characters"],
        finished["audio_ms"],
    )


def test_the_engine_refuses_and_the_next_request_is_unharmed(product: Product) -> None:
    text = "\u1eb5" * 200  # within the characters of one part, beyond the engine's tokens
    response = say(product, text)

    assert response.status_code == 400
    assert response.json()["error"]["param"] == "input"
    assert say(product).status_code == 200


def test_a_client_that_leaves_frees_the_engine(product: Product) -> None:
    url = f"{product.base}/v1/audio/speech"
    body = speech(LONG_TEXT)
    with httpx.stream("POST", url, json=body, headers=product.headers, timeout=60) as response:
        assert response.status_code == 200
        pieces = response.iter_raw()
        next(pieces)
        eventually(lambda: product.reservations() == 1)
    eventually(lambda: product.streams() == 0, PATIENCE)
    eventually(lambda: product.usage()[-1][0] == "cancelled")
    assert 0 <= product.usage()[-1][1] < len(LONG_TEXT)


def test_a_core_killed_mid_stream_breaks_the_answer_and_comes_back(product: Product) -> None:
    url = f"{product.base}/v1/audio/speech"
    stream = httpx.stream("POST", url, json=speech(LONG_TEXT), headers=product.headers, timeout=60)
    with pytest.raises(httpx.RemoteProtocolError), stream as response:
        pieces = response.iter_raw()
        next(pieces)
        os.kill(product.core(), signal.SIGKILL)
        list(pieces)

    eventually(lambda: product.usage()[-1][:2] == ("failed", 0))
    eventually(lambda: say(product).status_code == 200, PATIENCE)


def test_a_web_process_killed_mid_stream_leaves_what_the_reconciler_closes(
    product: Product,
) -> None:
    before = len(product.usage())
    heard = threading.Event()

    def listen() -> None:
        url = f"{product.base}/v1/audio/speech"
        body = speech(LONG_TEXT)
        with httpx.stream("POST", url, json=body, headers=product.headers, timeout=60) as response:
            for _ in response.iter_raw():
                heard.set()

    with ThreadPoolExecutor(1) as pool:
        listening = pool.submit(listen)
        assert heard.wait(PATIENCE)
        eventually(lambda: product.reservations() == 1)
        product.web.kill()
        assert isinstance(listening.exception(PATIENCE), httpx.TransportError)

    product.web = product.start_web()
    eventually(product.is_ready, PATIENCE)
    assert product.reservations() == 1
    assert json.loads(product.manage("reconcile_usage")) == {"closed": 0, "open": 1}
    closed = product.manage("reconcile_usage", "--older-than", "0")
    assert json.loads(closed) == {"closed": 1, "open": 0}
    assert [row[:2] for row in product.usage()[before:]] == [("lost", 0)]
    assert say(product).status_code == 200


def test_a_polite_stop_lets_the_stream_end(product: Product) -> None:
    url = f"{product.base}/v1/audio/speech"
    body = speech("Hello there.", seed=9)
    expected = say(product, seed=9).content
    with httpx.stream("POST", url, json=body, headers=product.headers, timeout=60) as response:
        pieces = response.iter_raw()
        audio = next(pieces)
        product.web.send_signal(signal.SIGTERM)
        audio += b"".join(pieces)
    product.web.wait(PATIENCE)
    assert audio == expected
    assert product.usage()[-1] == ("completed", 12, len(expected) // 48)
    product.web = product.start_web()
