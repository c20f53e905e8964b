"""A database of a bench's own on a Postgres server, dropped afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg

POSTGRES = "postgres://postgres@127.0.0.1:5432/postgres"


def server() -> str | None:
    """DATABASE_URL, or the usual one of this machine; None if that is no Postgres server's."""
    url = os.environ.get("DATABASE_URL") or POSTGRES
    return url if urlsplit(url).scheme in ("postgres", "postgresql") else None


@contextmanager
def fresh(url: str) -> Iterator[str]:
    """The address of an empty one."""
    name = f"parlance_bench_{uuid4().hex[:12]}"
    admin = urlunsplit(urlsplit(url)._replace(query=""))
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
