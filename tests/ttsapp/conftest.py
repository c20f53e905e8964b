"""Three tenants, an engine that fails on command, and a real web server in front of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from pytest_django import DjangoDbBlocker

from billing.upkeep import guard
from tests.ttsapp.contexts import order_of
from tests.ttsapp.scripted_engine import EngineThread, ScriptedEngine
from tests.ttsapp.web_thread import WebThread
from ttsapp import background, database, recent
from ttsapp.audit.services import SYSTEM
from ttsapp.engine import client
from ttsapp.keys.models import ApiKey
from ttsapp.keys.services import create_key
from ttsapp.tenants.models import Role, Tenant
from ttsapp.tenants.services import add_member, create_tenant
from ttsapp.voices import lookout, selectors

PASSWORD = "a long enough password"
# The first request loads whatever answers it: seconds on a machine that is busy.
START_SECONDS = 30.0
# What the migrations wrote, and no test changes.
KEPT = (ContentType, Permission)


@dataclass(frozen=True)
class Party:
    """One of the three tenants, with its owner and a key."""

    tenant: Tenant
    user: User
    key: ApiKey
    secret: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}


def make_party(name: str) -> Party:
    tenant = create_tenant(SYSTEM, name.title(), name)
    user = User.objects.create_user(name, password=PASSWORD)
    add_member(SYSTEM, tenant, user, Role.OWNER)
    key, secret = create_key(SYSTEM, tenant, f"{name}'s key")
    return Party(tenant, user, key, secret)


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """A million rounds protect real passwords, not these."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def transactional_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Instead of the plugin's, which after each test makes every permission anew."""
    with django_db_blocker.unblock():
        yield
        empty_tables()
        connection.close()


def empty_tables() -> None:
    with guard.opened(), connection.cursor() as cursor:
        for table in written_tables():
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


@cache
def written_tables() -> list[str]:
    kept = {model._meta.db_table for model in KEPT}
    return sorted(set(connection.introspection.django_table_names(only_existing=True)) - kept)


@pytest.fixture
def alice(transactional_db: None) -> Party:
    return make_party("alice")


@pytest.fixture
def bob(transactional_db: None) -> Party:
    return make_party("bob")


@pytest.fixture
def mallory(transactional_db: None) -> Party:
    return make_party("mallory")


@pytest.fixture(scope="session", autouse=True)
def no_renewals() -> None:
    """Between two tests there is no database to look anything up in again, and no time to wait."""
    recent.IN_USE_SECONDS = -1.0
    selectors.BEHIND_SECONDS = 0.0
    lookout.LOOK_SECONDS = 3600.0


@pytest.fixture(scope="session")
def engine_thread() -> Iterator[EngineThread]:
    with tempfile.TemporaryDirectory() as folder:
        target = f"unix:{Path(folder) / 'engine.sock'}"
        settings.ENGINES = (target,)
        thread = EngineThread(target)
        yield thread
        thread.close()


@pytest.fixture
def engine(engine_thread: EngineThread) -> Iterator[ScriptedEngine]:
    engine_thread.engine.reset()
    engine_thread.start()
    yield engine_thread.engine
    engine_thread.engine.release.set()


@pytest.fixture
async def order(alice: Party, engine: ScriptedEngine):
    """Alice's, for contexts that are read here."""
    yield order_of(alice)
    engine.release.set()
    await background.drain(5)
    await client.close()


@pytest.fixture(scope="session")
def web_thread(engine_thread: EngineThread, django_db_setup: None) -> Iterator[WebThread]:
    thread = WebThread()
    yield thread
    thread.close()
    database.readers().shutdown()
    database.writers().shutdown()
    if connection.vendor == "postgresql":
        connection.close_pool()


@pytest.fixture
def base(web_thread: WebThread, engine: ScriptedEngine, transactional_db: None) -> Iterator[str]:
    base = f"http://{web_thread.address}"
    # A test before this one may have stopped the engine: the link needs a moment to be back.
    ready = f"{base}/readyz"
    eventually(lambda: httpx.get(ready, timeout=START_SECONDS).status_code == 200, START_SECONDS)
    yield base
    # What the test left running would meet the next one's empty tables.
    engine.release.set()
    try:
        eventually(lambda: not background._running)
    except AssertionError:
        left = list(background._running)
        for task in left:
            # Or every test after this one would fail for it.
            task.get_loop().call_soon_threadsafe(task.cancel)
        pytest.fail(f"still in work: {left}")


@pytest.fixture
def http(base: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=base, timeout=10) as client:
        yield client


def speech(text: str = "Hello there.", **fields: object) -> dict[str, object]:
    """A request body that is right unless told otherwise."""
    body = {"model": "tts-1", "voice": "alloy", "input": text, "response_format": "pcm", **fields}
    return {name: value for name, value in body.items() if value is not ...}


def eventually(check: Callable[[], object], seconds: float = 20.0) -> object:
    """The first true answer: for what a background task writes after the response."""
    limit = time.monotonic() + seconds
    while not (answer := check()):
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.01)
    return answer


def ends_within_a_second(is_let_through: Callable[[], bool]) -> None:
    """Of what was taken back just now: no try that begins a second later is let through, however
    slow this machine is."""
    taken_back = began = time.monotonic()
    while is_let_through():
        assert began - taken_back < 1.0
        began = time.monotonic()
