"""Deepgram's addresses and errors."""

from __future__ import annotations

from ttsapp import context, ids
from ttsapp.dialects.dialect import Dialect, Rendered, retry_headers
from ttsapp.errors import ApiError


def _render(error: ApiError) -> Rendered:
    request_id = str(context.request_id.get() or ids.uuid7())
    code = "INVALID_AUTH" if error.status == 401 else error.code.upper()
    body = {"err_code": code, "err_msg": error.named, "request_id": request_id}
    # Of a refused handshake most clients show the headers only.
    shown = error.named.encode("ascii", "replace").decode()
    told = {"dg-request-id": request_id, "dg-error": shown}
    return Rendered(error.status, body, {**retry_headers(error), **told})


DEEPGRAM = Dialect("deepgram", ("/v1/speak",), _render, "Authorization: Token KEY")
