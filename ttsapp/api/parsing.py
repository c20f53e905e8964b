"""Bodies, read as strictly as those of the APIs that speak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import msgspec
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


class JsonParser(BaseParser):
    """The framework's own lets text through that is none (lone surrogates), and fails on lists that
    are nested too deep."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Raises ParseError."""
        try:
            return msgspec.json.decode(stream.read())
        except (msgspec.DecodeError, RecursionError):
            message = "The body is not valid JSON: check its quotes, commas and encoding (UTF-8)."
            raise ParseError(message) from None
