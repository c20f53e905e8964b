"""A socket whose client has left by the time it would be closed: no error of ours."""

from __future__ import annotations

from structlog.testing import capture_logs
from uvicorn.protocols.utils import ClientDisconnected

from ttsapp.dialects.openai.sockets import SpeechSocket


async def test_closing_what_is_gone_already() -> None:
    async def close() -> None:
        raise ClientDisconnected

    with capture_logs() as logs:
        await SpeechSocket().quietly(close())
    assert [(line["event"], line["log_level"]) for line in logs] == [
        ("socket was closed already", "debug")
    ]
