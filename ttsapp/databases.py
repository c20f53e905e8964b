"""DATABASE_URL to Django's DATABASES: Postgres when given, SQLite otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_SQLITE_START = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
    "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=134217728;"
)


def configuration(url: str, data: Path, threads: int) -> dict[str, Any]:
    """One DATABASES entry. Raises ImproperlyConfigured for a scheme that is not supported."""
    if not url:
        return _sqlite(data / "parlance.sqlite3")
    scheme = _scheme(url)
    if scheme == "sqlite":
        return _sqlite(Path(urlsplit(url).path))
    if scheme in ("postgres", "postgresql"):
        return _postgres(url, threads)
    raise ImproperlyConfigured(f"DATABASE_URL: {scheme!r} is not supported, use postgres or sqlite")


def _scheme(url: str) -> str:
    """Raises ImproperlyConfigured for what is no address; the message leaves passwords out."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL: {error}") from None
    return parts.scheme


def _sqlite(file: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": file,
        "CONN_MAX_AGE": None,
        # IMMEDIATE: two writers queue for the lock instead of failing half-way through.
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": _SQLITE_START,
        },
        # Two runs of the tests side by side must not share it.
        "TEST": {"NAME": file.with_name(f"test-{os.getpid()}.sqlite3")},
    }


def _postgres(url: str, threads: int) -> dict[str, Any]:
    parts = urlsplit(url)
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    # One connection for each reading and each writing thread, and as many again for the pages.
    # What cannot be made is given up soon, and tried again by who asks next: the pool would wait
    # for minutes between its last tries, with the server up again.
    options["pool"] = {"min_size": 1, "max_size": 3 * threads, "timeout": 5, "reconnect_timeout": 2}
    return {
        "ENGINE": "ttsapp.postgres",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }
