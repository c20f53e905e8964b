"""The same product on a real Postgres and Redis."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.product.crash.load import VICTIMS, Load
from tests.product.crash.lost_answer import TOLD, lose_answer, try_again
from tests.product.crash.run import compared, crash
from tests.product.running import PATIENCE, Running
from tests.product.services import on_services
from tests.ttsapp.conftest import eventually

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with on_services(tmp_path_factory.mktemp("services")) as running:
        yield running


def test_it_works(product: Running) -> None:
    text = "Good morning, everyone."

    response = product.say(text, stream=False)

    assert response.status_code == 200, response.text
    assert product.settled(response)["billed_characters"] == len(text)
    assert not (product.plan.data / "parlance.sqlite3").exists()


def test_the_worker_listens_on_redis(product: Running) -> None:
    log = product.plan.logs / "worker.log"
    eventually(lambda: re.search(r"transport: +redis://\S+:6379/11", _text(log)), PATIENCE)


@pytest.fixture(scope="module")
def load(product: Running) -> Load:
    """One for all tests: it knows what was killed a moment ago."""
    return Load(product, product.environment["DATABASE_URL"], random.Random(7))


@pytest.mark.timeout(600)
def test_what_was_charged_and_whose_answer_was_lost_is_charged_once(load: Load) -> None:
    lost = lose_answer(load)

    assert not lost.is_whole
    assert try_again(load, lost) == TOLD
    books, wrong = compared(load)
    assert wrong == []
    assert lost.request is not None
    assert books.events[lost.request].is_of(lost)
    asked = {each.request for each in load.attempts if each.key == lost.key}
    billed = [event.billed for event in books.events.values() if event.id in asked]
    assert sum(billed) == len(lost.text)


@pytest.mark.timeout(600)
def test_what_is_heard_is_what_is_charged_whatever_is_killed(load: Load) -> None:
    books, wrong = crash(load, requests=24, at_once=4, kills=4)

    assert wrong == []
    assert {victim for victim, _ in load.killed} == set(VICTIMS)
    assert any(event.outcome == "completed" for event in books.events.values())


def _text(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""
