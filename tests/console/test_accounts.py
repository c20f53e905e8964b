"""The second factor: added, asked for, guessed at, lost and removed."""

from __future__ import annotations

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core.cache import cache
from django.test import Client

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import PASSWORD, Party
from ttsapp.accounts.attempts import MOST_OF_CODES

SIGN_IN = "/console/login"


def code(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


def password(client: Client, next_page: str = "") -> str:
    """Where the password leads."""
    fields = {"login": "alice", "password": PASSWORD, "next": next_page}
    return str(client.post(SIGN_IN, fields).headers["location"])


def confirm(client: Client) -> None:
    assert client.post("/account/confirm", {"password": PASSWORD}).status_code == 302


@pytest.fixture
def secret(alice: Party) -> str:
    """Alice has an authenticator app."""
    added = add_app()
    cache.clear()  # the code just used would be refused as a replay
    return added


def add_app() -> str:
    client = Client()
    password(client)
    confirm(client)
    page = client.get("/account/app/add").content.decode()
    found = re.search(r"<code>([A-Z2-7]{32})</code>", page)
    assert found is not None
    answer = client.post("/account/app/add", {"code": code(found[1])})
    assert answer.headers["location"] == "/account/codes"
    return found[1]


def test_the_code_that_added_the_app_is_used_up(
    alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a code that does not end while it is tried
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    secret, client = add_app(), Client()
    password(client)
    assert client.post("/account/sign-in/code", {"code": code(secret)}).status_code == 200
    assert client.get("/console/alice").status_code == 302


def test_it_works(secret: str) -> None:
    client = Client()
    assert password(client, "/console/alice/keys") == "/account/sign-in/code"
    assert client.get("/console/alice/keys").status_code == 302
    answer = client.post("/account/sign-in/code", {"code": code(secret)})

    assert answer.headers["location"] == "/console/alice/keys"
    assert client.get("/console/alice/keys").status_code == 200


def test_the_apps_secret_is_kept_encrypted(secret: str) -> None:
    assert secret not in str(Authenticator.objects.get(type="totp").data)


def test_a_wrong_code_lets_nobody_in(secret: str) -> None:
    client = Client()
    password(client)
    assert client.post("/account/sign-in/code", {"code": "000000"}).status_code == 200
    assert client.get("/console/alice").status_code == 302


def test_guessing_at_codes_ends(secret: str) -> None:
    client = Client()
    password(client)
    for _ in range(MOST_OF_CODES):
        client.post("/account/sign-in/code", {"code": "000000"})
    page = client.post("/account/sign-in/code", {"code": code(secret)}).content.decode()
    assert "Too many attempts: wait 15 minutes" in page
    assert client.get("/console/alice").status_code == 302


def test_a_recovery_code_works_once(secret: str) -> None:
    (codes,) = Authenticator.objects.filter(type="recovery_codes")
    spare = codes.wrap().get_unused_codes()[0]
    answers = []
    for _ in range(2):
        client = Client()
        password(client)
        answers.append(client.post("/account/sign-in/code", {"code": spare}).status_code)
    assert answers == [302, 200]


def test_what_changes_the_sign_in_asks_for_the_password_again(sign_in: SignIn) -> None:
    stolen = sign_in("alice")
    asked = stolen.get("/account/app/add")
    assert asked.headers["location"] == "/account/confirm?next=%2Faccount%2Fapp%2Fadd"
    wrong = stolen.post("/account/confirm", {"password": "wrong"})
    right = stolen.post("/account/confirm?next=/account/app/add", {"password": PASSWORD})
    assert wrong.status_code == 200
    assert right.headers["location"] == "/account/app/add"


def test_guessing_in_a_stolen_session_ends(sign_in: SignIn) -> None:
    stolen = sign_in("alice")
    for _ in range(MOST_OF_CODES):
        stolen.post("/account/confirm", {"password": "wrong"})
    page = stolen.post("/account/confirm", {"password": PASSWORD})
    assert "Too many attempts" in page.content.decode()


def test_removing_the_app_leaves_the_password(secret: str) -> None:
    client = Client()
    password(client)
    client.post("/account/sign-in/code", {"code": code(secret)})
    confirm(client)
    assert client.post("/account/app/remove").status_code == 302
    assert password(Client()) == "/console/"


def test_nobody_signs_up(sign_in: SignIn) -> None:
    assert sign_in("nobody").get("/account/signup").status_code == 404
