"""Signing in by the company's own provider."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import clear_url_caches

from tests.console.provider import Provider, provider
from tests.ttsapp.conftest import Party
from ttsapp import urls as root
from ttsapp.accounts import settings as chosen
from ttsapp.accounts import urls
from ttsapp.accounts.settings import Oidc

BACK = "/account/oidc/company/back"


@pytest.fixture
def company(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """An installation that was started with a provider."""
    with provider() as running:
        wanted = Oidc(running.issuer, "parlance", "a secret", "Acme")
        apps = {"openid_connect": {"APPS": chosen.oidc_apps(wanted)}}
        monkeypatch.setattr(settings, "OIDC", wanted)
        monkeypatch.setattr(settings, "SOCIALACCOUNT_PROVIDERS", apps)
        _reload()
        yield running
    monkeypatch.undo()
    _reload()


def _reload() -> None:
    importlib.reload(urls)
    importlib.reload(root)
    clear_url_caches()


def asked(client: Client) -> dict[str, str]:
    """What the provider is asked when somebody follows the button."""
    answer = client.get("/account/oidc/company?next=/console/")
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.url).query).items()}


def come_back(client: Client, **query: str) -> str:
    """Where the way back from the provider leads."""
    answer = client.get(BACK, {"code": "code", **query})
    return str(answer.headers.get("location", answer.content.decode()))


def test_it_works(company: Provider) -> None:
    client = Client()
    assert "Sign in with Acme" in client.get("/console/login").content.decode()
    question = asked(client)
    assert come_back(client, state=question["state"]) == "/console/"

    assert question["client_id"] == "parlance"
    assert set(question["scope"].split()) == {"openid", "profile", "email"}
    assert question["code_challenge_method"] == "S256"
    assert question["redirect_uri"] == f"http://testserver{BACK}"
    assert company.asked[0]["code_verifier"]
    assert "you belong to no tenant" in client.get("/console/").content.decode()


def test_the_same_person_has_the_same_account(company: Provider) -> None:
    for _ in range(2):
        client = Client()
        come_back(client, state=asked(client)["state"])
    assert [user.username for user in User.objects.all()] == ["dora"]


def test_a_name_of_somebody_here_does_not_become_them(company: Provider, alice: Party) -> None:
    company.person = {"sub": "43", "preferred_username": "alice"}
    client = Client()
    come_back(client, state=asked(client)["state"])
    assert client.get("/console/alice").status_code == 404
    assert User.objects.exclude(pk=alice.user.pk).count() == 1


@pytest.mark.parametrize("state", ["forged", ""])
def test_an_answer_to_no_question_of_ours(company: Provider, state: str) -> None:
    client = Client()
    asked(client)
    assert "That did not work" in come_back(client, state=state)
    assert not User.objects.exists()


def test_a_code_that_the_provider_refuses(company: Provider) -> None:
    company.person = None
    client = Client()
    assert "That did not work" in come_back(client, state=asked(client)["state"])
    assert not User.objects.exists()


def test_without_a_provider_there_is_no_button(db: None) -> None:
    client = Client()
    assert "oidc" not in client.get("/console/login").content.decode()
    assert client.get("/account/oidc/company").status_code == 404


def test_half_a_provider_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLANCE_OIDC_ISSUER", "https://id.example.com/")
    with pytest.raises(ImproperlyConfigured, match="PARLANCE_OIDC_CLIENT_SECRET belong together"):
        chosen.oidc()


@pytest.mark.parametrize(
    "issuer", ["id.example.com", "ftp://id.example.com", "https://", "https://x/?a"]
)
def test_an_issuer_that_is_none(monkeypatch: pytest.MonkeyPatch, issuer: str) -> None:
    monkeypatch.setenv("PARLANCE_OIDC_ISSUER", issuer)
    with pytest.raises(ImproperlyConfigured, match="PARLANCE_OIDC_ISSUER must be https://host"):
        chosen.oidc()
