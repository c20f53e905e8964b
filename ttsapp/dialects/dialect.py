"""What is a dialect's own in every exchange: its addresses, and the shape of its errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ttsapp.errors import ApiError


@dataclass(frozen=True, slots=True)
class Rendered:
    """An error as a dialect's clients expect it: status, JSON body, headers, and its type."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Dialect:
    """Lives under `/name`, and at the root under the paths that are its alone. `key_header`: how
    its clients send a key."""

    name: str
    roots: tuple[str, ...]
    render: Callable[[ApiError], Rendered]
    key_header: str = "Authorization: Bearer KEY"

    def owns(self, path: str) -> bool:
        return self.is_named_in(path) or any(is_under(path, root) for root in self.roots)

    def is_named_in(self, path: str) -> bool:
        return is_under(path, f"/{self.name}")


def is_under(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def retry_headers(error: ApiError) -> dict[str, str]:
    """Whole seconds for everyone, milliseconds for the clients that read them; and which limit
    it was, with what is left."""
    if error.retry_after_ms is None:
        return error.headers
    seconds = max(1, math.ceil(error.retry_after_ms / 1000))
    wait = {"Retry-After": str(seconds), "retry-after-ms": str(error.retry_after_ms)}
    return {**error.headers, **wait}
