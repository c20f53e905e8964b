"""Text in, speech out, metered: through the API that people already call."""

from __future__ import annotations

import io
import json
import wave

import httpx
import openai
import pytest
from websockets.sync.client import connect

from tests.product.running import PATIENCE, Running
from tests.ttsapp.conftest import eventually

TEXT = "Good morning, everyone."
LONG_TEXT = "The ferry left the old pier, and the gulls went with it. " * 4


def test_it_works(product: Running) -> None:
    response = product.say(TEXT, response_format="wav", stream=False)

    assert response.status_code == 200, response.text
    with wave.open(io.BytesIO(response.content)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        milliseconds = file.getnframes() // 24
    row = product.settled(response)
    assert row["billed_characters"] == len(TEXT)
    assert row["audio_ms"] == milliseconds
    assert row["finish_reason"] == response.headers["x-finish-reason"]


@pytest.mark.parametrize(
    ("response_format", "start"), [("pcm", b""), ("wav", b"RIFF"), ("mp3", b"\xff\xf3")]
)
def test_the_openai_client_hears_it_whole_and_in_pieces(
    product: Running, response_format: str, start: bytes
) -> None:
    wanted = {"model": "tts-1", "voice": "alloy", "input": TEXT, "response_format": response_format}
    with openai.OpenAI(base_url=f"{product.base}/v1", api_key=product.key) as client:
        whole = client.audio.speech.create(**wanted, extra_body={"seed": 7}).read()
        streamed = client.audio.speech.with_streaming_response.create(
            **wanted, extra_body={"seed": 7}
        )
        with streamed as response:
            pieces = list(response.iter_bytes())

    assert len(pieces) > 1
    assert b"".join(pieces) == whole
    assert whole.startswith(start)


def test_words_are_told_with_their_times(product: Running) -> None:
    answer = product.say(TEXT, response_format="pcm", stream=False, word_timestamps=True).json()
    assert [each["word"] for each in answer["words"]] == TEXT.split()
    marks = [each[edge] for each in answer["words"] for edge in ("start", "end")]
    assert marks == sorted(marks)
    assert answer["words"][-1]["end"] <= answer["duration"]


def test_a_socket_speaks_what_is_typed(product: Running) -> None:
    url = product.base.replace("http:", "ws:") + "/v1/audio/speech/ws"
    with connect(url, additional_headers=product.headers) as socket:
        for message in (
            {"type": "start", "voice": "alloy"},
            {"type": "text", "text": "Good morning, "},
            {"type": "text", "text": "everyone."},
            {"type": "end"},
        ):
            socket.send(json.dumps(message))
        assert json.loads(socket.recv(PATIENCE))["type"] == "accepted"
        audio = b""
        while isinstance(frame := socket.recv(PATIENCE), bytes):
            audio += frame

    finished = json.loads(frame)
    assert (finished["type"], finished["characters"]) == ("finished", len(TEXT))
    assert finished["audio_ms"] == len(audio) // 48 > 0


def test_a_wrong_key_is_refused_and_not_charged(product: Running) -> None:
    headers = {"Authorization": "Bearer parl_live_wrong"}
    body = {"model": "tts-1", "voice": "alloy", "input": TEXT}

    response = httpx.post(f"{product.base}/v1/audio/speech", json=body, headers=headers)

    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_api_key"


def test_who_leaves_frees_the_engine_and_pays_for_a_part(product: Running) -> None:
    body = {"model": "tts-1", "voice": "alloy", "input": LONG_TEXT, "response_format": "pcm"}
    url = f"{product.base}/v1/audio/speech"
    with httpx.stream("POST", url, json=body, headers=product.headers, timeout=60) as response:
        next(response.iter_raw())

    eventually(lambda: product.streams() == 0)
    row = product.settled(response)
    assert row["finish_reason"] == "cancelled"
    assert isinstance(charged := row["billed_characters"], int)
    assert 0 <= charged < len(LONG_TEXT)
