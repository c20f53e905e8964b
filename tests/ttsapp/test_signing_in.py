"""Signing in: whose password it is, where it leads, and how often it may be guessed."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.contrib.auth.models import User

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import PASSWORD, Party
from ttsapp.accounts.attempts import MOST_OF_ADDRESS, MOST_OF_NAME, WINDOW, network
from ttsapp.console.models import SignInAttempt


def sign_in(client: httpx.Client, username: str, password: str) -> httpx.Response:
    return client.post("/console/login", data={"login": username, "password": password})


def test_it_works(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        response = sign_in(client, "alice", PASSWORD)
    assert (response.status_code, response.headers["location"]) == (302, "/console/")
    assert not SignInAttempt.objects.exists()


def test_a_wrong_password_is_refused_and_the_name_kept(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        response = sign_in(client, "alice", "wrong")

    assert response.status_code == 200
    assert "do not match an account" in response.text
    assert 'value="alice"' in response.text
    assert "sessionid" not in client.cookies


def test_signing_in_leads_nowhere_else(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        fields = {"login": "alice", "password": PASSWORD, "next": "https://evil.example/"}
        response = client.post("/console/login", data=fields)

    assert response.headers["location"] == "/console/"


def test_guessing_at_a_name_ends(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        for _ in range(MOST_OF_NAME):
            assert "Too many attempts" not in sign_in(client, "alice", "wrong").text
        refused = sign_in(client, "Alice", PASSWORD)  # now even the right one is refused

    assert "Too many attempts: wait 15 minutes" in refused.text
    assert "sessionid" not in client.cookies
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "900")


def test_the_stock_admin_has_the_same_door(base: str, alice: Party) -> None:
    User.objects.update(is_staff=True)
    with browser(base, None) as client:
        inside = client.get("/admin/login/?next=/admin/")
        posted = client.post("/admin/login/", data={"username": "alice", "password": PASSWORD})
    assert inside.headers["location"] == "/console/login?next=%2Fadmin%2F"
    assert posted.headers["location"].startswith("/console/login")
    assert "sessionid" not in posted.cookies


def test_the_limit_is_per_name(base: str, alice: Party, bob: Party) -> None:
    with browser(base, None) as client:
        for _ in range(MOST_OF_NAME + 1):
            sign_in(client, "alice", "wrong")
        assert sign_in(client, "bob", PASSWORD).status_code == 302


def test_guessing_at_many_names_ends(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        for guess in range(MOST_OF_ADDRESS):
            sign_in(client, f"name{guess}", "wrong")
        assert sign_in(client, "alice", PASSWORD).status_code == 429


def test_the_limit_is_lifted_by_time(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        for _ in range(MOST_OF_NAME):
            sign_in(client, "alice", "wrong")
        for attempt in SignInAttempt.objects.all():
            attempt.at -= WINDOW + timedelta(seconds=1)
            attempt.save()
        assert sign_in(client, "alice", PASSWORD).status_code == 302
    assert not SignInAttempt.objects.exists()


def test_success_forgets_earlier_mistakes(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        sign_in(client, "alice", "wrong")
    with browser(base, "alice"):
        assert not SignInAttempt.objects.exists()


def test_a_blank_password_forgets_no_guesses(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        for _ in range(MOST_OF_NAME):
            sign_in(client, "alice", "wrong")
        assert sign_in(client, "alice", "").status_code == 200
        assert SignInAttempt.objects.count() == MOST_OF_NAME
        refused = sign_in(client, "alice", PASSWORD)

    assert "Too many attempts: wait 15 minutes" in refused.text
    assert "sessionid" not in client.cookies


def test_a_blank_password_is_no_guess(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        for _ in range(MOST_OF_NAME + 1):
            assert sign_in(client, "alice", "").status_code == 200
        assert not SignInAttempt.objects.exists()
        assert sign_in(client, "alice", PASSWORD).status_code == 302


def test_a_name_of_no_form_forgets_no_guesses(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        sign_in(client, "alice", "wrong")
        sign_in(client, "", PASSWORD)
        sign_in(client, "a" * 999, PASSWORD)
    assert SignInAttempt.objects.filter(username="alice").count() == 1


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"),
        ("", ""),
        ("x" * 99, "x" * 50),
    ],
)
def test_who_counts_as_one(address: str, counted: str) -> None:
    assert network(address) == counted
