"""Pages in browsers may call the API: keys travel in headers of their own, so that no page can use
what its visitor's browser knows."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

# What the dialects' clients read; a browser hides every header that is not named.
_LIMITS = tuple(
    f"x-ratelimit-{what}-{kind}"
    for what in ("limit", "remaining", "reset")
    for kind in ("requests", "tokens")
)
_EXPOSED = ", ".join(
    (
        *("x-request-id", "request-id", "x-trace-id", "retry-after", "retry-after-ms"),
        *("x-should-retry", "x-finish-reason", "x-audio-ms", "x-parlance-characters"),
        *("x-parlance-seed", "character-cost", "history-item-id", "dg-request-id", "dg-error"),
        *("dg-model-name", "dg-model-uuid", "dg-char-count", "x-parlance-streams-limit"),
        *("x-parlance-streams-remaining", "x-parlance-budget-limit"),
        *("x-parlance-budget-remaining", "x-parlance-budget-warning"),
        *("idempotent-replayed", "x-parlance-first-request"),
        *_LIMITS,
    )
)
_DAY_SECONDS = "86400"


def is_preflight(request: HttpRequest) -> bool:
    return request.method == "OPTIONS" and "Origin" in request.headers


def preflight(methods: tuple[str, ...]) -> HttpResponse:
    """Any header may be sent; the wildcard does not stand for the first."""
    response = HttpResponse(status=204)
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Allow-Methods"] = ", ".join(methods)
    response["Access-Control-Allow-Headers"] = "authorization, xi-api-key, content-type, *"
    response["Access-Control-Max-Age"] = _DAY_SECONDS
    return response


def expose(response: HttpResponseBase) -> None:
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Expose-Headers"] = _EXPOSED
