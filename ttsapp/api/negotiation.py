"""Which form a request and its answer have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OneShape(BaseContentNegotiation):
    """JSON, whatever is asked for: a browser that opens an address is answered as well."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        kind = (request.content_type or "").partition(";")[0].strip()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
