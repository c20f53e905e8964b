"""Every page in every role, and for who is none of the tenant's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction
from pathlib import Path
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLResolver, get_resolver, resolve

from tests.console import money_matrix, voice_matrix
from tests.console.conftest import CALLERS, SignIn
from tests.console.matrix import FETCHED, ROWS, Row
from tests.ttsapp.conftest import Party
from tests.ttsapp.test_isolation import MATRIX
from ttsapp.audit.models import AuditEntry

PLACES, NOBODY = ("console/", "platform/"), str(UUID(int=0))
EVERY = (*ROWS, *money_matrix.ROWS, *voice_matrix.ROWS)


@pytest.mark.parametrize("place", range(len(CALLERS)), ids=CALLERS)
def test_the_permission_matrix(
    sign_in: SignIn, alice: Party, place: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Where no engine is, whatever engine the tests before have left running.
    monkeypatch.setattr(settings, "ENGINES", (f"unix:{tmp_path}/nobody.sock",))
    client = sign_in(CALLERS[place])
    rows = AuditEntry.objects.count()
    for row in EVERY:
        expected, name = row.statuses[place], f"{row.method} {row.path}"
        with transaction.atomic():
            response = ask(client, row)
            assert response.status_code == expected, name
            if expected in (403, 404) or CALLERS[place] == "nobody":
                assert b"Alice" not in response.content, name
                assert AuditEntry.objects.count() == rows, name
            transaction.set_rollback(True)


def ask(client: Client, row: Row) -> HttpResponse:
    form = {
        "data": urlencode(row.fields),
        "content_type": "application/x-www-form-urlencoded",
    }
    return client.generic(row.method, row.path, **form)


def test_the_matrix_knows_every_method_of_every_page() -> None:
    """A form that was added to a page that is known would otherwise open to whom it likes."""
    tried = {(resolve(row.path).route, row.method) for row in EVERY}
    for path, method, *_ in MATRIX:
        tried.add((resolve(re.sub(r"\{.*?\}", NOBODY, path)).route, method))
    fetched = {resolve(path).route for path in (*FETCHED, *voice_matrix.FETCHED)}
    there_are = {
        (route, method)
        for route, view in views(get_resolver().url_patterns)
        if route.startswith(PLACES) and route not in fetched
        for method in methods(view)
    }
    assert there_are - tried == set()


def views(patterns: list, prefix: str = "") -> Iterator[tuple[str, Callable]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns, path)
        else:
            yield path, pattern.callback


def methods(view: Callable) -> set[str]:
    """That it takes, by its own word. What scripts fetch is async and takes one method alone; the
    sign-in is allauth's."""
    if iscoroutinefunction(view) or not view.__module__.startswith("ttsapp.console."):
        return set()
    answer = view(RequestFactory().generic("PROBE", "/"))
    assert answer.status_code == 405, view
    return set(answer.headers["allow"].replace(" ", "").split(",")) - {"HEAD"}
