"""Limits by count hold whoever comes at the same moment: on Postgres too (`test_services.py`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from django.db import connection
from django.http import HttpResponse

from tests.ttsapp.conftest import Party
from ttsapp.alerts import webhooks
from ttsapp.alerts.models import Webhook
from ttsapp.audit.services import SYSTEM
from ttsapp.console import view_pages
from ttsapp.console.models import SavedView
from ttsapp.console.places import Place
from ttsapp.errors import ApiError

AT_ONCE, MOST = 6, 2


def no_page(*_: object) -> HttpResponse:
    raise AssertionError("nothing is shown here")


@pytest.fixture
def meeting() -> Callable[[], None]:
    """All meet in it that are let so far together; who comes alone goes on."""
    together = threading.Barrier(AT_ONCE)

    def meet() -> None:
        with suppress(threading.BrokenBarrierError):
            together.wait(1)

    return meet


def at_once(work: Callable[[int], object]) -> list[object]:
    """What each came to: a result, or the code of a refusal."""

    def alone(number: int) -> object:
        try:
            return work(number)
        except ApiError as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(alone, range(AT_ONCE)))


@pytest.mark.parametrize("is_tenants", [True, False])
def test_webhooks(
    alice: Party,
    monkeypatch: pytest.MonkeyPatch,
    meeting: Callable[[], None],
    is_tenants: bool,
) -> None:
    tenant = alice.tenant if is_tenants else None
    real = webhooks._new_secret

    def new_secret() -> str:
        meeting()
        return real()

    monkeypatch.setattr(webhooks, "MOST", MOST)
    monkeypatch.setattr(webhooks, "_new_secret", new_secret)
    made = at_once(lambda n: webhooks.create(SYSTEM, tenant, f"https://example.com/{n}"))

    assert made.count("too_many_webhooks") == AT_ONCE - MOST
    assert Webhook.objects.count() == MOST


def test_saved_views(
    alice: Party, monkeypatch: pytest.MonkeyPatch, meeting: Callable[[], None]
) -> None:
    real = SavedView.objects.create

    def create(**fields: object) -> SavedView:
        meeting()
        return real(**fields)

    monkeypatch.setattr(view_pages, "MOST_VIEWS", MOST)
    monkeypatch.setattr(SavedView.objects, "create", create)
    place = Place(alice.tenant, frozenset(), no_page, "console", ("alice",))

    def save(number: int) -> None:
        view_pages._save(alice.user, place, "keys", f"view {number}", "q=a", is_shared=False)

    at_once(save)
    assert SavedView.objects.count() == MOST
