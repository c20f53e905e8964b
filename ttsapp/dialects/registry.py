"""Which dialect an address belongs to. docs/structures.md, "Adding a dialect", lists the steps."""

from __future__ import annotations

from ttsapp.api.problems import MANAGEMENT
from ttsapp.dialects.cartesia.dialect import CARTESIA
from ttsapp.dialects.dashscope.dialect import DASHSCOPE
from ttsapp.dialects.deepgram.dialect import DEEPGRAM
from ttsapp.dialects.dialect import Dialect
from ttsapp.dialects.elevenlabs.dialect import ELEVENLABS
from ttsapp.dialects.openai.dialect import OPENAI

# OpenAI's root is the one that others' paths lie under, so it is asked last.
DIALECTS: tuple[Dialect, ...] = (CARTESIA, DASHSCOPE, DEEPGRAM, ELEVENLABS, OPENAI)


def find(path: str) -> Dialect | None:
    """None where people look: pages, not an API."""
    return next((dialect for dialect in DIALECTS if dialect.owns(path)), None)


def of(path: str) -> Dialect:
    """Whose error shape to use; OpenAI's, which most clients can read, where it is nobody's."""
    return MANAGEMENT if MANAGEMENT.owns(path) else find(path) or OPENAI
