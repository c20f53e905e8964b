"""Filters in an address that mean nothing: a list and its CSV refuse them, and neither fails."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.console.conftest import SignIn
from ttsapp.console import lists

# Each list knows some of them, and leaves the others alone.
QUERIES = (
    "state=x&kind=x&ended=x&action=x&target=x&since=x&month=x",
    "q=%00&owner=%00&code=%00&actor=%00",
    "key=%00",
    "before=%00",
    "q=" + "a" * 300,
    "since=9999-12-31&until=9999-12-31&month=9999-12",
    "since=0001-01-01&until=0001-01-01&month=0001-01",
    "page=x",
    "page=99999999999999999999",
)


@pytest.mark.parametrize("name", lists.OF_TENANT)
def test_of_a_tenant(name: str, sign_in: SignIn) -> None:
    routes = [reverse(f"console:{each}", args=["alice"]) for each in (name, f"{name}_csv")]
    assert failing(sign_in("alice"), routes) == []


@pytest.mark.parametrize("name", lists.OF_PLATFORM)
def test_of_the_installation(name: str, sign_in: SignIn) -> None:
    routes = [reverse(f"platform:{each}") for each in (name, f"{name}_csv")]
    assert failing(sign_in("operator"), routes) == []


def failing(client: Client, routes: list[str]) -> list[tuple[str, int]]:
    client.raise_request_exception = False
    found = [
        (f"{route}?{query}", client.get(f"{route}?{query}").status_code)
        for route in routes
        for query in QUERIES
    ]
    return [(path, status) for path, status in found if status not in (200, 400)]


@pytest.mark.parametrize("query", ["state=x", "q=" + "a" * 300, "q=%00"])
def test_the_list_of_tenants_says_what_is_wrong(query: str, sign_in: SignIn) -> None:
    client = sign_in("operator")
    for path in ("/platform/tenants", "/platform/tenants.csv"):
        answer = client.get(f"{path}?{query}")
        assert (answer.status_code, answer["Content-Type"]) == (400, "text/html; charset=utf-8")
