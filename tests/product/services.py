"""The product over a Postgres database that is made for it and dropped after it, and Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg

from tests.product.running import Running
from tests.ttsapp.test_services import require_services


@contextmanager
def on_services(folder: Path) -> Iterator[Running]:
    server, redis = require_services()
    name = f"parlance_{uuid4().hex[:12]}"
    with psycopg.connect(_database(server, "postgres"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        services = {"DATABASE_URL": _database(server, name), "REDIS_URL": _number(redis, 11)}
        try:
            with Running(folder, **services) as running:
                yield running
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}", query=""))


def _number(url: str, number: int) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))
