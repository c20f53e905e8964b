"""Reading settings from the environment: strict, and secrets may come from a file."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
SECRET_CHARACTERS, SECRET_VARIETY = 32, 5
_HOST = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]")
# gRPC's own schemes.
_RESOLVED = re.compile(r"(unix|unix-abstract|vsock|dns|ipv4|ipv6|xds):(?!\d+$).")


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


def number(name: str, default: int, *, least: int = 1, most: int) -> int:
    value = text(name).strip()
    if not value:
        return default
    # Python refuses to read numbers of thousands of digits.
    if not (value.isdecimal() and len(value) < 20 and least <= int(value) <= most):
        raise ImproperlyConfigured(
            f"{name}={_short(value)} is not a whole number from {least} to {most}"
        )
    return int(value)


def seconds(name: str, default: int) -> int:
    """A day at most."""
    return number(name, default, most=86_400)


def secret(name: str) -> str:
    """Empty where there is none."""
    value = text(name)
    if value and (len(value) < SECRET_CHARACTERS or len(set(value)) < SECRET_VARIETY):
        raise ImproperlyConfigured(
            f"{name} must have at least {SECRET_CHARACTERS} characters, {SECRET_VARIETY} of them"
            " different: a long random text"
        )
    return value


def choice(name: str, choices: tuple[str, ...], default: str) -> str:
    """One of the choices, in whatever case it is written."""
    value = text(name).strip().upper()
    if not value:
        return default
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={value!r} is none of {', '.join(choices)}")
    return value


def url(name: str, schemes: tuple[str, ...]) -> str:
    """An address of one of these schemes; empty where there is none. What is said of a wrong one
    leaves passwords out."""
    value = text(name).strip()
    if not value:
        return ""
    scheme, separator, rest = value.partition("://")
    if scheme not in schemes or not separator or not rest:
        known = ", ".join(f"{scheme}://" for scheme in schemes)
        raise ImproperlyConfigured(f"{name} must begin with one of {known} and name a host")
    if scheme != "unix":
        _check_place(name, value)
    return value


def web_address(name: str) -> str:
    """https://host/path, or http for a try on one's own machine; empty where there is none."""
    value = text(name).strip().rstrip("/")
    if not value:
        return ""
    try:
        parts = urlsplit(value)
        is_right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_right = False
    if not is_right or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"{name} must be https://host, with a path if need be")
    return value


def currency(name: str, default: str) -> str:
    """Three letters of ISO 4217."""
    value = text(name).strip().upper() or default
    if not re.fullmatch(r"[A-Z]{3}", value):
        raise ImproperlyConfigured(f"{name}={_short(value)} is no currency: such as EUR or USD")
    return value


def mail_address(name: str) -> str:
    """smtp://user:password@host:port, smtp+tls:// or smtps://; empty where there is none."""
    return url(name, ("smtp", "smtp+tls", "smtps"))


def targets(name: str, default: str) -> tuple[str, ...]:
    """Where gRPC servers listen, separated by commas: unix:/path, host:port, or a name that gRPC
    resolves."""
    found = words(name) or [default]
    for value in found:
        if not _RESOLVED.match(value) and not _is_host_and_port(value):
            raise ImproperlyConfigured(
                f"{name}={_short(value)} is neither unix:/path nor host:port, the port from 1 to"
                " 65535"
            )
    return tuple(dict.fromkeys(found))


def hosts(name: str) -> list[str]:
    """A comma-separated list of host names as Django takes them: `.example.com` has subdomains,
    `*` is any."""
    found = words(name)
    for word in found:
        if word != "*" and not _HOST.fullmatch(word.removeprefix(".")):
            raise ImproperlyConfigured(
                f"{name}: {_short(word)} is no host name: leave out scheme, port and path"
            )
    return found


def folder(name: str, default: Path) -> Path:
    """A folder that is there or can be made."""
    path = Path(text(name).strip() or default)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}={path}: {error.strerror}") from None
    return path


def file(name: str) -> Path | None:
    """A file that is there; None where none is named."""
    value = text(name).strip()
    if value and not Path(value).is_file():
        raise ImproperlyConfigured(f"{name}={_short(value)} is no file")
    return Path(value) if value else None


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


def _check_place(name: str, value: str) -> None:
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = "", 0
    if not host or port == 0:
        raise ImproperlyConfigured(f"{name} must name a host, and a port from 1 to 65535 if any")
    if not re.fullmatch(r"/?|/\d{1,9}", parts.path):
        raise ImproperlyConfigured(f"{name} must end in the number of a database, or in none")


def _is_host_and_port(value: str) -> bool:
    host, _, port = value.rpartition(":")
    is_port = port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65_535
    return is_port and _HOST.fullmatch(host) is not None


def _short(value: str) -> str:
    return repr(value if len(value) <= 50 else f"{value[:50]}…")
