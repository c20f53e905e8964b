"""The JavaScript clients of OpenAI, ElevenLabs and Cartesia, unmodified (make test-clients)."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Call
from tests.ttsapp.scripted_engine import spoken

FOLDER = Path(__file__).parent / "js"
NODE = shutil.which("node") or ""

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(
        not (NODE and (FOLDER / "node_modules").exists()), reason="make test-clients installs them"
    ),
]


def heard(audio: bytes) -> dict[str, Any]:
    return {"bytes": len(audio), "sha256": hashlib.sha256(audio).hexdigest()}


HELLO = heard(spoken(5))


def test_openai(call: Call) -> None:
    found = call(NODE, str(FOLDER / "openai.mjs"))
    assert (found["whole"], found["contentType"]) == (HELLO, "audio/pcm")
    assert found["wav"] == "RIFF"
    assert (found["events"], found["usage"]) == (HELLO, True)
    assert found["models"] == ["scripted-voices", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"]
    assert found["model"] == "tts-1"
    assert found["unknown"] == [400, "unknown_voice", "voice", 36]
    assert found["wrongKey"] == "AuthenticationError"


def test_elevenlabs(call: Call) -> None:
    found = call(NODE, str(FOLDER / "elevenlabs.mjs"))
    assert [found[name] for name in ("whole", "streamed", "timed", "lines")] == [HELLO] * 4
    assert found["voices"] == ["Anna", "Ben"]
    assert found["models"][0] == "scripted-voices"
    assert (found["user"], found["token"]) == ("alice", True)
    assert found["unknown"] == [400, "voice_not_found"]


def test_cartesia(call: Call) -> None:
    found = call(NODE, str(FOLDER / "cartesia.cjs"))
    assert (found["bytes"], found["context"]) == (HELLO, HELLO)
    assert {"chunk", "done"} <= set(found["kinds"])
    assert found["voices"] == ["Anna", "Ben"]
    assert found["unknown"] == 404
