"""Pipecat's services and LiveKit's plugins, unmodified (make test-clients)."""

from __future__ import annotations

from pathlib import Path

import pytest

from billing.models import UsageEvent
from tests.clients.conftest import Call
from tests.clients.test_javascript import HELLO
from tests.ttsapp.conftest import eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine

FOLDER = Path(__file__).parent / "frameworks"
PYTHON = Path(__file__).parents[2] / ".venv-clients" / "bin" / "python"
# LiveKit may add a blank frame of 10 ms at an end.
HELLO_MS = (400, 410, 420)

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(not PYTHON.exists(), reason="make test-clients installs them"),
]


every_service = pytest.mark.parametrize(
    "service", ["openai", "elevenlabs", "elevenlabs http", "cartesia", "deepgram"]
)


@every_service
def test_a_pipecat_service_says_a_turn(call: Call, engine: ScriptedEngine, service: str) -> None:
    engine.script.tells_words = True
    found = call(str(PYTHON), str(FOLDER / "pipecat_services.py"), service)
    assert found["errors"] == []
    assert (found["bytes"], found["sha256"]) == (HELLO["bytes"], HELLO["sha256"])
    assert found["text"] == "Hello there."


@every_service
def test_a_pipecat_service_that_is_interrupted_frees_the_engine(
    call: Call, engine: ScriptedEngine, service: str
) -> None:
    """And says its next turn, with nothing of the one before."""
    engine.next_scripts.extend([Script(hold_after=2), Script(tells_words=True)])
    found = call(str(PYTHON), str(FOLDER / "pipecat_services.py"), service, "interrupted")
    assert found["errors"] == []
    assert (found["bytes"], found["sha256"]) == (HELLO["bytes"], HELLO["sha256"])
    assert [heard.text.strip() for heard in engine.heard] == ["Never mind.", "Hello there."]
    assert engine.heard[0].ended.is_set()
    eventually(lambda: UsageEvent.objects.count() == 2)
    assert set(UsageEvent.objects.values_list("outcome", flat=True)) == {"cancelled", "completed"}


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
