"""The control plane's one error: every dialect renders it in its own shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class ApiError(Exception):
    """`code` is stable and public; `field` names the field of the request that is at fault.
    `headers` go out with it in whatever shape it is rendered."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        retry_after_ms: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.retry_after_ms = retry_after_ms
        self.headers = dict(headers or {})

    @property
    def named(self) -> str:
        """The message with the field in it, for shapes that have no place of its own for that. What
        is no plain text is quoted: it may stand in a header."""
        field = ascii(self.field)[1:-1] if self.field else ""
        return self.message if field in self.message else f"{field}: {self.message}"


def voice_error(error: ApiError, field: str) -> ApiError:
    """The same, about what a dialect calls the voice; about another field it stays as it is."""
    return ApiError(
        error.status,
        error.code,
        error.message,
        field=field if error.field == "voice" else error.field,
        retry_after_ms=error.retry_after_ms,
    )


def invalid(message: str, field: str | None, code: str = "invalid_value") -> ApiError:
    """A 400: the request can never succeed as it stands."""
    return ApiError(400, code, message, field=field)


def not_offered(field: str, value: str, choices: Iterable[object]) -> ApiError:
    """A 400 on `field` that names what it may be; the caller's own word is quoted short."""
    offered = ", ".join(dict.fromkeys(map(str, choices)))
    return invalid(f"{field} {value[:50]!r} is not offered: choose one of {offered}.", field)


class BrokenStreamError(Exception):
    """Raised after the first byte: the server drops the connection, so that no client mistakes
    what it has for the whole."""
