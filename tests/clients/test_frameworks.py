"""Pipecat's services and LiveKit's plugins, unmodified (make test-clients)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.conftest import Call
from tests.clients.test_javascript import HELLO
from tests.ttsapp.scripted_engine import ScriptedEngine

FOLDER = Path(__file__).parent / "frameworks"
PYTHON = Path(__file__).parents[2] / ".venv-clients" / "bin" / "python"
# LiveKit may add a blank frame of 10 ms at an end.
HELLO_MS = (400, 410, 420)

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(not PYTHON.exists(), reason="make test-clients installs them"),
]


@pytest.mark.parametrize(
    "service", ["openai", "elevenlabs", "elevenlabs http", "cartesia", "deepgram"]
)
def test_a_pipecat_service_says_a_turn(call: Call, engine: ScriptedEngine, service: str) -> None:
    engine.script.tells_words = True
    found = call(str(PYTHON), str(FOLDER / "pipecat_services.py"), service)
    assert found["errors"] == []
    assert (found["bytes"], found["sha256"]) == (HELLO["bytes"], HELLO["sha256"])
    assert found["text"] == "Hello there."


@pytest.mark.parametrize("plugin", ["openai", "elevenlabs", "cartesia", "deepgram"])
def test_a_livekit_plugin_speaks_at_once_and_over_a_stream(
    call: Call, engine: ScriptedEngine, plugin: str
) -> None:
    engine.script.tells_words = True
    found = call(str(PYTHON), str(FOLDER / "livekit_plugins.py"), plugin)
    assert found["once"]["ms"] in HELLO_MS
    assert found.get("stream", found["once"])["ms"] in HELLO_MS
    if plugin in ("elevenlabs", "cartesia"):
        assert found["stream"]["words"] == ["Hello", "there."]
