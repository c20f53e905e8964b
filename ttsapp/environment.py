"""Reading settings from the environment: strict, and secrets may come from a file."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


def text(name: str, default: str = "") -> str:
    """The variable, or the content of the file that NAME_FILE points to. Both at once: refused."""
    value, file = os.environ.get(name), os.environ.get(f"{name}_FILE")
    if value is not None and file is not None:
        raise ImproperlyConfigured(f"set {name} or {name}_FILE, not both")
    if file is not None:
        return _read(name, Path(file))
    return default if value is None else value


def flag(name: str, default: bool = False) -> bool:
    """A boolean. Anything but the usual eight words is refused at start-up."""
    value = text(name).strip().lower()
    if not value:
        return default
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name}={value!r} is neither true nor false")
    return value in _TRUE


def number(name: str, default: int, *, least: int = 1) -> int:
    value = text(name).strip()
    if not value:
        return default
    if not value.isdecimal() or int(value) < least:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number of at least {least}")
    return int(value)


def choice(name: str, choices: tuple[str, ...], default: str) -> str:
    """One of the choices, in whatever case it is written."""
    value = text(name).strip().upper()
    if not value:
        return default
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={value!r} is none of {', '.join(choices)}")
    return value


def url(name: str, schemes: tuple[str, ...]) -> str:
    """An address of one of these schemes; empty where there is none."""
    value = text(name).strip()
    if not value:
        return ""
    scheme, separator, rest = value.partition("://")
    if scheme not in schemes or not separator or not rest:
        known = ", ".join(f"{scheme}://" for scheme in schemes)
        raise ImproperlyConfigured(f"{name} must begin with one of {known} and name a host")
    return value


def folder(name: str, default: Path) -> Path:
    """A folder that is there or can be made."""
    path = Path(text(name).strip() or default)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}={path}: {error.strerror}") from None
    return path


def words(name: str) -> list[str]:
    """A comma-separated list, blanks dropped."""
    return [word.strip() for word in text(name).split(",") if word.strip()]


def networks(name: str) -> list[str]:
    """A comma-separated list of addresses and networks."""
    found = words(name)
    for word in found:
        try:
            ip_network(word)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {error}") from None
    return found


def kept_secret(file: Path) -> str:
    """A secret that is made at the first start and kept in a file only its owner can read."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        if not file.exists():
            _keep(file, secrets.token_urlsafe(50))
        value = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{file}: {error}") from None
    if not value:
        raise ImproperlyConfigured(f"{file} is empty: delete it, and the next start makes another")
    return value


def _keep(file: Path, value: str) -> None:
    """Appears whole or not at all; who comes second keeps the first one's."""
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(value)
        with suppress(FileExistsError):
            os.link(partial, file)
    finally:
        partial.unlink()


def _read(name: str, file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE: {error}") from None
