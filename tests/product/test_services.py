"""The same product on a real Postgres and Redis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest

from tests.product.running import PATIENCE, Running
from tests.ttsapp.conftest import eventually
from tests.ttsapp.test_services import require_services

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Over a database that is made for it and dropped after it."""
    server, redis = require_services()
    name = f"parlance_{uuid4().hex[:12]}"
    admin = _database(server, "postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        services = {"DATABASE_URL": _database(server, name), "REDIS_URL": _number(redis, 11)}
        try:
            with Running(tmp_path_factory.mktemp("services"), **services) as running:
                yield running
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_it_works(product: Running) -> None:
    text = "Good morning, everyone."

    response = product.say(text, stream=False)

    assert response.status_code == 200, response.text
    assert product.settled(response)["billed_characters"] == len(text)
    assert not (product.plan.data / "parlance.sqlite3").exists()


def test_the_worker_listens_on_redis(product: Running) -> None:
    log = product.plan.logs / "worker.log"
    eventually(lambda: re.search(r"transport: +redis://\S+:6379/11", _text(log)), PATIENCE)


def _database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}", query=""))


def _number(url: str, number: int) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))


def _text(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""
