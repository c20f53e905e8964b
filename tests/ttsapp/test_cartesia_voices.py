"""Voices as Cartesia's clients list them."""

from __future__ import annotations

import httpx
import pytest

from tests.ttsapp.cartesia_calls import CARSON, refused
from tests.ttsapp.conftest import Party


def ids(http: httpx.Client, party: Party, **query: str) -> list[str]:
    answer = http.get("/voices", params=query, headers=party.headers)
    assert answer.status_code == 200
    return [voice["id"] for voice in answer.json()["data"]]


def test_it_works(http: httpx.Client, alice: Party) -> None:
    listed = http.get("/voices", headers=alice.headers).json()
    assert [voice["id"] for voice in listed["data"]] == ["Anna", "Ben"]
    assert listed["has_more"] is False
    assert listed["data"][0] == {
        "id": "Anna",
        "name": "Anna",
        "description": "A calm female voice",
        "tagline": "",
        "language": "en",
        "locales": [{"locale": "en", "is_native": True}, {"locale": "de", "is_native": False}],
        "access": "public",
        "visibility": "all",
        "is_owner": False,
        "created_at": "1970-01-01T00:00:00Z",
        "gender": "feminine",
    }


def test_voices_list_ends_with_an_empty_page(http: httpx.Client, alice: Party) -> None:
    assert ids(http, alice, limit="1") == ["Anna"]
    assert ids(http, alice, limit="1", starting_after="Anna") == ["Ben"]
    assert ids(http, alice, starting_after="Ben") == []
    assert ids(http, alice, ending_before="Ben") == ["Anna"]
    assert ids(http, alice, ending_before="Anna") == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "DEEP"}, ["Ben"]),
        ({"gender": "feminine"}, ["Anna"]),
        ({"gender": "gender_neutral"}, []),
        ({"is_owner": "true"}, []),
        ({"is_owner": "false"}, ["Anna", "Ben"]),
        ({"expand[]": "preview_file_url"}, ["Anna", "Ben"]),
    ],
)
def test_filters(http: httpx.Client, alice: Party, query: dict, found: list[str]) -> None:
    assert ids(http, alice, **query) == found


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"limit": "0"}, "limit may be"),
        ({"limit": "1e2"}, "limit may be"),
        ({"limit": "101"}, "limit may be"),
        ({"starting_after": "Carl"}, "'Carl' is no voice"),
        ({"gender": "feline"}, "gender may be"),
        ({"is_owner": "maybe"}, "is_owner may be"),
        ({"page": "2"}, "Unknown parameter 'page'"),
    ],
)
def test_bad_query(http: httpx.Client, alice: Party, query: dict, message: str) -> None:
    answer = http.get("/voices", params=query, headers=alice.headers)
    assert message in refused(answer, 400, answer.json()["error_code"])


@pytest.mark.parametrize(("name", "found"), [("Ben", "Ben"), ("anna", "Anna"), (CARSON, "Ben")])
def test_one(http: httpx.Client, alice: Party, name: str, found: str) -> None:
    answer = http.get(f"/voices/{name}", headers=alice.headers)
    assert (answer.status_code, answer.json()["id"]) == (200, found)


def test_one_that_is_not(http: httpx.Client, alice: Party) -> None:
    answer = http.get("/voices/nobody", headers=alice.headers)
    assert "There is no voice 'nobody'" in refused(answer, 404, "voice_not_found")


def test_no_key(http: httpx.Client) -> None:
    refused(http.get("/voices"), 401, "invalid_api_key")
