"""OpenAI's addresses and errors."""

from __future__ import annotations

from ttsapp.dialects.dialect import Dialect, Rendered, retry_headers
from ttsapp.dialects.openai.codec import error_body
from ttsapp.errors import ApiError


def _render(error: ApiError) -> Rendered:
    return Rendered(error.status, error_body(error), retry_headers(error))


OPENAI = Dialect("openai", ("/v1",), _render)
