"""Which dialect an address belongs to. docs/structures.md, "Adding a dialect", lists the steps."""

from __future__ import annotations

from django.http import HttpRequest

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
    return find(path) or (MANAGEMENT if MANAGEMENT.owns(path) else OPENAI)


def of_request(request: HttpRequest) -> Dialect:
    """The same where there is nothing: of an address at the root that could be several's, the one
    whose clients send such a key."""
    found = of(request.path_info)
    if found is not OPENAI or OPENAI.is_named_in(request.path_info):
        return found
    if "xi-api-key" in request.headers:
        return ELEVENLABS
    return CARTESIA if "cartesia-version" in request.headers else OPENAI
