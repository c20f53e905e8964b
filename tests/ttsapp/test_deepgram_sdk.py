"""Deepgram's own client, unmodified, against the running server."""

from __future__ import annotations

import pytest
from deepgram import DeepgramClient
from deepgram.core.api_error import ApiError
from deepgram.environment import DeepgramClientEnvironment
from deepgram.errors import BadRequestError
from deepgram.speak.v1.types import SpeakV1Close, SpeakV1Flush, SpeakV1Text
from websockets.exceptions import InvalidStatus

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken


def client(base: str, key: str, prefix: str = "") -> DeepgramClient:
    socket = base.replace("http:", "ws:") + prefix
    environment = DeepgramClientEnvironment(
        base=base + prefix, production=socket, agent=socket, agent_rest=base + prefix
    )
    return DeepgramClient(api_key=key, environment=environment)


@pytest.mark.parametrize("prefix", ["", "/deepgram"])
def test_generate(base: str, alice: Party, engine: ScriptedEngine, prefix: str) -> None:
    speech = client(base, alice.secret, prefix).speak.v1.audio.generate(
        text="Hello there.",
        model="aura-2-thalia-en",
        encoding="linear16",
        container="none",
        sample_rate=24000,
        tag="a-tag",
        mip_opt_out=True,
    )
    assert b"".join(speech) == spoken(5)
    assert engine.heard[0].start.text == "Hello there."


def test_bad_requests_have_their_own_error(base: str, alice: Party) -> None:
    audio = client(base, alice.secret).speak.v1.audio
    with pytest.raises(BadRequestError) as refusal:
        list(audio.generate(text=" "))
    assert refusal.value.body["err_code"] == "EMPTY_INPUT"


def test_a_wrong_key(base: str, alice: Party) -> None:
    audio = client(base, alice.secret[:-1] + "!").speak.v1.audio
    with pytest.raises(ApiError) as refusal:
        list(audio.generate(text="Hello."))
    assert refusal.value.status_code == 401


def test_socket(base: str, alice: Party) -> None:
    speak = client(base, alice.secret).speak.v1
    with speak.connect(model="aura-2-zeus-en", encoding="linear16", sample_rate="24000") as link:
        link.send_text(SpeakV1Text(type="Speak", text="Hello there."))
        link.send_flush(SpeakV1Flush(type="Flush"))
        link.send_close(SpeakV1Close(type="Close"))
        heard = list(link)
    audio = b"".join(one for one in heard if isinstance(one, bytes))
    assert audio == spoken(5)
    assert [one.type for one in heard if not isinstance(one, bytes)] == ["Metadata", "Flushed"]
    assert isinstance(heard[-2], bytes)


def test_socket_with_a_wrong_key(base: str) -> None:
    """The client means to raise an ApiError here, but lets the library's own through."""
    with pytest.raises(InvalidStatus) as refusal, client(base, "nonsense").speak.v1.connect():
        pass
    assert refusal.value.response.status_code == 401
