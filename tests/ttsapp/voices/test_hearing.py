"""A clone's text beside what a recogniser hears: any server of OpenAI's transcription call."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import TCPServer

import httpx
import pytest
import soundfile
from django.conf import LazySettings

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices.conftest import clone, consent, stored
from ttsapp.voices.clips import hearing
from ttsapp.voices.clips.hearing import shared
from ttsapp.voices.models import VoiceVersion

TEXT = "The quick brown fox jumps over the lazy dog, and then it sleeps for an hour."


class Recogniser(HTTPServer):
    """Hears `text`, whatever is said; keeps what it was sent."""

    def __init__(self) -> None:
        self.status, self.answer = 200, json.dumps({"text": TEXT})
        self.asked: list[tuple[str, dict[str, bytes]]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        """Without asking what the address is called, as HTTPServer does: a machine whose resolver
        is away would wait for it."""
        TCPServer.server_bind(self)


class _Handler(BaseHTTPRequestHandler):
    server: Recogniser

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        parts = BytesParser().parsebytes(head + body).get_payload()
        fields = {
            part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in parts
        }
        self.server.asked.append((self.headers["authorization"], fields))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.answer.encode())

    def log_message(self, *args: object) -> None:
        """Silent."""


@pytest.fixture
def recogniser(settings: LazySettings) -> Iterator[Recogniser]:
    with Recogniser() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.TRANSCRIPTION_URL = (
            f"http://127.0.0.1:{server.server_address[1]}/v1/transcriptions"
        )
        settings.TRANSCRIPTION_KEY = "a-key"
        yield server
        server.shutdown()


@pytest.fixture
def http_cloning(http: httpx.Client, cloning: ScriptedEngine) -> httpx.Client:
    return http


def ann(http: httpx.Client, party: Party, **fields: str) -> httpx.Response:
    return clone(http, party, consent=consent(http, party), **fields)


def test_it_works(http_cloning: httpx.Client, alice: Party, recogniser: Recogniser) -> None:
    answer = ann(http_cloning, alice, ref_text=TEXT)

    assert answer.status_code == 200, answer.text
    ((key, sent),) = recogniser.asked
    assert (key, sent["model"], sent["response_format"]) == ("Bearer a-key", b"whisper-1", b"json")
    samples, rate = soundfile.read(io.BytesIO(sent["file"]))
    assert (rate, len(samples) > 3 * rate) == (24_000, True)
    assert not any("words" in note for note in VoiceVersion.objects.get().checks["notes"])


def test_other_words_are_refused_and_nothing_is_kept(
    http_cloning: httpx.Client, alice: Party, recogniser: Recogniser, store: object
) -> None:
    recogniser.answer = json.dumps({"text": "Something else was said here altogether."})
    answer = ann(http_cloning, alice, ref_text=TEXT)

    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == ("transcript_mismatch", "ref_text")
    assert "heard was 'Something else was said here altogether.'" in error["message"]
    assert stored(store) == ["evidence"]


@pytest.mark.parametrize(
    ("status", "answer"), [(500, "{}"), (200, "no JSON"), (200, '{"words": 1}')]
)
def test_a_recogniser_that_fails_keeps_nobody_from_cloning(
    http_cloning: httpx.Client, alice: Party, recogniser: Recogniser, status: int, answer: str
) -> None:
    recogniser.status, recogniser.answer = status, answer
    assert ann(http_cloning, alice, ref_text=TEXT).status_code == 200
    note = "Its words were not compared with the text: the recogniser did not answer."
    assert note in VoiceVersion.objects.get().checks["notes"]


def test_a_recogniser_that_is_slow_keeps_nobody_from_cloning(
    http_cloning: httpx.Client,
    alice: Party,
    recogniser: Recogniser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the wait for others' recordings."""
    monkeypatch.setattr(hearing, "SECONDS", 0.0)
    assert ann(http_cloning, alice, ref_text=TEXT).status_code == 200
    note = "Its words were not compared with the text: the recogniser did not answer."
    assert note in VoiceVersion.objects.get().checks["notes"]


def test_without_a_text_nothing_is_asked(
    http_cloning: httpx.Client, alice: Party, recogniser: Recogniser
) -> None:
    assert ann(http_cloning, alice).status_code == 200
    assert recogniser.asked == []


@pytest.mark.parametrize(
    ("text", "heard", "is_same"),
    [
        ("Hello there, how are you?", "hello there how are you", True),
        ("It costs 5 euros at Müller's.", "It costs five euros at Mullers", True),
        ("今天天气很好。", "今天天氣很好", True),
        ("今天天气很好。", "我们去吃饭吧", False),
        ("One two three four.", "", False),
        ("Hello there, how are you?", "The weather will be fine tomorrow.", False),
    ],
)
def test_words_are_compared_as_people_would(text: str, heard: str, is_same: bool) -> None:
    assert (shared(text, heard) >= 0.5) is is_same
